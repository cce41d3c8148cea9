package main

// judged does long work on files under a progress bar, shows its report, and ends
// with exit code 1 where the report says that something is wrong.
func judged[R any](a *app, bar *bar, run func() (R, error), lay func(*table, R), right func(R) bool) error {
	report, err := run()
	bar.clear()
	if err != nil {
		return err
	}
	if err := show(a, report, lay); err != nil {
		return err
	}
	if !right(report) {
		return errTold
	}
	return nil
}
