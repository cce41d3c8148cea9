package http

import (
	"errors"
	"net/http"
	"net/mail"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/internal/signup"
)

const signupPath = "/api/signup"

// Bounds of what anyone may send without a key.
const (
	maxSignupBody    = 16 << 10
	maxSignupName    = 256
	maxSignupMessage = 1024
	signupsPerSecond = 1
	signupsAtOnce    = 20
)

// signupRoutes are those of the list of signups, where the server keeps one.
func (s *Server) signupRoutes() []route {
	if s.config.Signups == nil {
		return nil
	}
	return []route{
		{method: http.MethodPost, template: signupPath, access: public, handle: s.signUp},
		{method: http.MethodGet, template: signupPath, handle: s.listSignups},
		{method: http.MethodDelete, template: signupPath, handle: s.removeSignup},
	}
}

// signUp is POST /api/signup (F-646): it notes who asks, in no tenant.
func (s *Server) signUp(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	if err := c.readBodyWithin(min(maxSignupBody, s.config.MaxBodyBytes)); err != nil {
		return err
	}
	body, err := jsonx.Parse(c.body)
	if err != nil {
		return err
	}
	e, err := signupOf(body)
	if err != nil {
		return err
	}
	s.maskSignup(&e)
	if !s.signups.Allow() {
		return fact.Errorf(fact.RateLimited, "too many have signed up in this moment: try again later")
	}
	switch err := s.config.Signups.Add(e); {
	case errors.Is(err, signup.ErrFull):
		return fact.Errorf(fact.RateLimited, "the list is full: write to whoever runs this server")
	case err != nil:
		return err
	}
	s.config.Logger.Info("abagraph.signup") // whose it is stays in the list
	c.trace.Name("sign_up", "note the address")
	return c.finish(http.StatusAccepted, append(c.begin(), `{"ok":true}`...))
}

// maskSignup masks what is written beside the address, which alone is asked for.
func (s *Server) maskSignup(e *signup.Entry) {
	for _, text := range []*string{&e.Name, &e.Company, &e.Message} {
		*text = s.config.Memory.MaskText(*text)
	}
}

func signupOf(body jsonx.Value) (signup.Entry, error) {
	f := jsonx.Open(body, "")
	e := signup.Entry{Email: f.Required("email")}
	for _, part := range [...]struct {
		name string
		to   *string
		most int
	}{{"name", &e.Name, maxSignupName}, {"company", &e.Company, maxSignupName}, {"message", &e.Message, maxSignupMessage}} {
		*part.to, _ = f.Text(part.name)
		if len(*part.to) > part.most {
			f.Fail(fact.Invalid(part.name, "is longer than "+strconv.Itoa(part.most)+" bytes"))
		}
	}
	if a, err := mail.ParseAddress(e.Email); err != nil || a.Address != e.Email || len(e.Email) > 254 || strings.ContainsAny(e.Email, "\"<>") {
		f.Fail(fact.Invalid("email", "must be an address such as ada@example.com"))
	}
	return e, f.Done()
}

// listSignups is GET /api/signup: the list of this node.
func (s *Server) listSignups(c *call) error {
	if err := c.operator(); err != nil {
		return err
	}
	c.stand()
	c.trace.Name("list_signups", "read the list of this node")
	b := append(c.begin(), `{"signups":[`...)
	for i, e := range s.config.Signups.List() {
		b = jsonx.AppendString(append(comma(b, i), `{"email":`...), e.Email)
		b = appendKnown(append(b, `,"name":`...), e.Name)
		b = appendKnown(append(b, `,"company":`...), e.Company)
		b = appendKnown(append(b, `,"message":`...), e.Message)
		b = append(strconv.AppendInt(append(b, `,"at":`...), e.At, 10), '}')
	}
	return c.finish(http.StatusOK, append(b, ']', '}'))
}

// removeSignup is DELETE /api/signup?email=: it deletes an entry for good.
func (s *Server) removeSignup(c *call) error {
	email, given := c.query.text("email")
	if err := c.operator(); err != nil {
		return err
	}
	if !given {
		return fact.Invalid("email", "is required")
	}
	if err := c.noBody(); err != nil {
		return err
	}
	there, err := s.config.Signups.Remove(email)
	if err != nil {
		return err
	}
	if !there {
		return fact.Errorf(fact.NotFound, "nobody has signed up with this address on this node")
	}
	c.stand()
	c.trace.Name("remove_signup", "delete the entry")
	return c.finish(http.StatusOK, append(c.begin(), `{"ok":true}`...))
}
