package jsonx

import "abagraph/fact"

// Compact appends a parsed value without the white space between its tokens;
// numbers and strings stay as they were written. It refuses numbers that a
// double cannot hold, for an answer that carried one could not be read by many
// a client. The path names the value in the error.
func Compact(dst []byte, v Value, path string) ([]byte, error) {
	switch v.Kind {
	case Array:
		return compactArray(dst, v, path)
	case Object:
		return compactObject(dst, v, path)
	case Number:
		if _, err := fact.NumberObject(path, v.Raw); err != nil {
			return dst, err
		}
	}
	return append(dst, v.Raw...), nil
}

func compactArray(dst []byte, v Value, path string) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i := range v.Kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = Compact(dst, v.Kids[i], path); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func compactObject(dst []byte, v Value, path string) ([]byte, error) {
	dst = append(dst, '{')
	var err error
	for i := range v.Kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, v.Kids[i].Name), ':')
		if dst, err = Compact(dst, v.Kids[i], path); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}
