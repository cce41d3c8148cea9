package main

import (
	"github.com/spf13/cobra"
)

// shown is one line of what config shows.
type shown struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
	Env   string `json:"env"`
	Flag  string `json:"flag"`
}

func configCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show every setting, its value and where that comes from",
		Long: `Shows the settings that serve would use with the same flags, environment and
configuration file, and the server that the client commands would speak to. Keys
and secrets are not shown.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			got, err := resolve(c.Flags(), a.world)
			if err != nil {
				return err
			}
			return a.showConfig(got)
		},
	}
	settingFlags(c.Flags())
	return c
}

func (a *app) showConfig(got settings) error {
	var list []shown
	for _, s := range serverSettings() {
		one := shown{Name: s.name, Value: got[s.name].value, From: got[s.name].from, Env: s.env(), Flag: "--" + s.flag()}
		if s.secret && one.Value != "" {
			one.Value = redacted
		}
		list = append(list, one)
	}
	url, key := a.target()
	if key.value != "" {
		key.value = redacted
	}
	list = append(list, shown{"client url", url.value, url.from, urlNames[0], "--url"}, shown{"client key", key.value, key.from, keyNames[0], "--key"})
	if !a.readable() {
		return writeValue(a.out, list)
	}
	t := newTable(a.width())
	t.row("SETTING", "VALUE", "FROM")
	for _, one := range list {
		t.row(one.Name, one.Value, one.From)
	}
	return t.write(a.out)
}
