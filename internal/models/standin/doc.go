// Package standin is a model server for tests. It speaks both wire formats, answers
// from a script, and can be slow, cut off in mid-JSON, fail, flood, and echo the
// key that it was sent. It also says which real endpoint the tests of models ask
// beside it, where one is named. It is no part of the program.
package standin
