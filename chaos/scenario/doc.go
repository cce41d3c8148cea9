// Package scenario runs one seeded attack on a cluster and judges it: a workload
// that knows what it may see, faults in an order that the seed fixes, quiet, and then
// judges that hold everything that was answered to everything that is there.
//
// It owns the plan, the workload, the record of every call, the judges and the report.
// It knows the cluster by package chaos and the REST API only. A violation is something
// that the product promised and did not keep; an error is that the attack itself could
// not be made.
package scenario
