// Checks whether a history of operations on a few records is linearizable, with Porcupine.
//
//	linearizability [-html FILE] < history.jsonl
//
// Each line of the history is an operation of a client (see Operation). It is linearizable when each operation can have taken
// effect at one moment between its call and its return, one after the other, with the results that the clients received. An
// operation without an answer may take effect at any time after its call, or never.
//
// Prints "linearizable", "undecided" when that takes too long, or the operations that contradict each other; the exit status is
// 0, 3 or 1, and 2 for a history that cannot be read.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// How long a history may be searched, and the parts of it that are searched for a quick answer or for the explanation.
const (
	checkTime = 10 * time.Second
	stepTime  = time.Second
	partTime  = 300 * time.Millisecond
)

func main() {
	html := flag.String("html", "", "write a history that is not linearizable into this file, as a page")
	flag.Parse()
	history, err := read()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	m, err := newModel(history)
	if err != nil {
		fmt.Println("not linearizable:", err)
		os.Exit(1)
	}
	check := m.checker()
	operations := operationsOf(history)
	switch verdict(check, operations) {
	case porcupine.Ok:
		fmt.Println("linearizable")
		return
	case porcupine.Unknown:
		fmt.Println("undecided")
		os.Exit(3)
	}
	fmt.Println("not linearizable: no order of all operations explains these results (times in µs):")
	for _, index := range contradiction(check, m.plainest(check, operations)) {
		op := operations[index]
		fmt.Printf("client %d, %d to %d: %s\n", op.ClientId, op.Call, op.Return, describe(op.Input.(Input), op.Output.(Output)))
	}
	if *html != "" {
		_, info := porcupine.CheckOperationsVerbose(check, operations, checkTime)
		if err := porcupine.VisualizePath(check, info, *html); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(1)
}

func read() ([]Operation, error) {
	var history []Operation
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		var op Operation
		if err := json.Unmarshal(lines.Bytes(), &op); err != nil {
			return nil, fmt.Errorf("line %d is no operation: %w", number, err)
		}
		history = append(history, op)
	}
	return history, lines.Err()
}

// verdict checks a history: first with those writes of unknown outcome alone that must have taken effect, since with each other one the search
// can take twice as long. A history that is linearizable without them is linearizable with them, after everything else.
func verdict(check porcupine.Model, operations []porcupine.Operation) porcupine.CheckResult {
	var certain, possible []porcupine.Operation
	for _, op := range operations {
		if op.Return == forever {
			possible = append(possible, op)
		} else {
			certain = append(certain, op)
		}
	}
	slices.SortFunc(possible, func(a, b porcupine.Operation) int { return int(b.Call - a.Call) })
	for {
		switch porcupine.CheckOperationsTimeout(check, certain, stepTime) {
		case porcupine.Ok:
			return porcupine.Ok
		case porcupine.Unknown:
			return porcupine.CheckOperationsTimeout(check, operations, checkTime)
		}
		// Some write has taken effect before the first result that the others do not explain.
		until := firstIllegal(check, certain)
		taken := slices.IndexFunc(possible, func(op porcupine.Operation) bool {
			op.Return = until
			return op.Call < until && porcupine.CheckOperationsTimeout(check, begin(append(slices.Clone(certain), op), until), stepTime) == porcupine.Ok
		})
		if taken < 0 {
			return porcupine.CheckOperationsTimeout(check, operations, checkTime)
		}
		op := possible[taken]
		op.Return = until
		certain, possible = append(certain, op), slices.Delete(possible, taken, taken+1)
	}
}

// firstIllegal returns the end of the first operation with which a history that is not linearizable is not linearizable.
func firstIllegal(check porcupine.Model, operations []porcupine.Operation) int64 {
	var ends []int64
	for _, op := range operations {
		ends = append(ends, op.Return)
	}
	slices.Sort(ends)
	first := sort.Search(len(ends), func(at int) bool {
		return porcupine.CheckOperationsTimeout(check, begin(operations, ends[at]), stepTime) != porcupine.Ok
	})
	return ends[min(first, len(ends)-1)]
}

// begin returns a history until a moment, at which its last operations have no results yet.
func begin(operations []porcupine.Operation, until int64) []porcupine.Operation {
	var history []porcupine.Operation
	for _, op := range operations {
		if op.Return > until && op.Call <= until && op.Input.(Input).isWrite() && op.Output.(Output).State != "failed" {
			op.Output, op.Return = Output{State: "unknown"}, forever
		} else if op.Return > until {
			continue
		}
		history = append(history, op)
	}
	return history
}

// The end of an operation without an answer.
const forever = math.MaxInt64 - 1

// operationsOf ends an operation without an answer after all others, or where one of its values was read.
func operationsOf(history []Operation) []porcupine.Operation {
	read := map[int]int64{}
	for _, op := range history {
		for _, record := range op.Result.Records {
			for _, number := range []int{value(record.A), value(record.B)} {
				if before, known := read[number]; op.Return != nil && (!known || *op.Return < before) {
					read[number] = *op.Return
				}
			}
		}
	}
	operations := make([]porcupine.Operation, len(history))
	for index, op := range history {
		ret := int64(forever)
		if op.Return != nil {
			ret = *op.Return
		} else {
			for _, record := range op.Op.Records {
				for _, set := range record.Set {
					if end, known := read[value(set)]; known && set != nil {
						ret = min(ret, end)
					}
				}
			}
		}
		operations[index] = porcupine.Operation{ClientId: op.Client, Input: op.Op, Call: op.Call, Output: op.Result, Return: ret}
	}
	return operations
}

func (m *model) checker() porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return state{} },
		Step: func(before, in, out interface{}) (bool, interface{}) {
			return m.step(before.(state), in.(Input), out.(Output))
		},
		DescribeOperation: func(in, out interface{}) string { return describe(in.(Input), out.(Output)) },
		DescribeState:     func(s interface{}) string { return m.describeState(s.(state)) },
	}
}

// plainest returns the operations on a single record where these contradict each other by themselves, and all of them otherwise. The metadata of
// each is its index.
func (m *model) plainest(check porcupine.Model, operations []porcupine.Operation) []porcupine.Operation {
	for index := range operations {
		operations[index].Metadata = index
	}
	for id := range m.ids {
		if of := ofRecord(operations, id); porcupine.CheckOperationsTimeout(check, of, partTime) == porcupine.Illegal {
			return of
		}
	}
	return operations
}

// ofRecord returns what operations say of a record. The results of writes of several records do not say what they did to each.
func ofRecord(operations []porcupine.Operation, id string) []porcupine.Operation {
	var history []porcupine.Operation
	for _, op := range operations {
		in, out := op.Input.(Input), op.Output.(Output)
		names := in.named()
		if !slices.Contains(names, id) || in.Kind == "count" || (len(names) > 1 && out.State == "refused") {
			continue
		}
		if len(names) > 1 && in.isWrite() && out.State == "done" {
			out = Output{State: "unknown"}
		}
		if len(in.IDs) > 0 {
			in.IDs = []string{id}
		}
		in.Records = slices.DeleteFunc(slices.Clone(in.Records), func(record RecordInput) bool { return record.ID != id })
		out.Records = slices.DeleteFunc(slices.Clone(out.Records), func(record Record) bool { return record.ID != id })
		op.Input, op.Output = in, out
		history = append(history, op)
	}
	return history
}

// contradiction returns the indices of the operations whose results contradict each other, and of the writes whose values they read. The history
// must not be linearizable. Leaving out reads, and forgetting results of writes, can only make a history linearizable: what can be left out while
// it does not become so is not needed.
func contradiction(check porcupine.Model, operations []porcupine.Operation) []int {
	isNeeded := make([]bool, len(operations))
	// Returns the history without the results that are not needed.
	weakened := func() []porcupine.Operation {
		var history []porcupine.Operation
		for index, op := range operations {
			if !isNeeded[index] && op.Input.(Input).isWrite() && op.Output.(Output).State != "failed" {
				op.Output, op.Return = Output{State: "unknown"}, forever
			} else if !isNeeded[index] {
				continue
			}
			history = append(history, op)
		}
		return history
	}
	isIllegal := func() bool {
		return porcupine.CheckOperationsTimeout(check, weakened(), partTime) == porcupine.Illegal
	}
	order := make([]int, len(operations))
	for index := range operations {
		order[index] = index
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(operations[a].Return - operations[b].Return) })
	// The shortest beginning of the history that contradicts itself.
	first := 0
	for ; first < len(order) && !isIllegal(); first++ {
		isNeeded[order[first]] = true
	}
	// Without reads first, since the search takes longer with every result of a write that it does not know.
	for _, writes := range []bool{false, true} {
		for at := first - 1; at >= 0; at-- {
			index := order[at]
			if operations[index].Input.(Input).isWrite() == writes {
				isNeeded[index] = false
				isNeeded[index] = !isIllegal()
			}
		}
	}
	read := map[int]bool{}
	for index, op := range operations {
		for _, record := range op.Output.(Output).Records {
			read[value(record.A)] = read[value(record.A)] || isNeeded[index]
			read[value(record.B)] = read[value(record.B)] || isNeeded[index]
		}
	}
	var shown []porcupine.Operation
	for index, op := range operations {
		isRead := slices.ContainsFunc(op.Input.(Input).Records, func(record RecordInput) bool {
			for _, set := range record.Set {
				if set != nil && read[*set] {
					return true
				}
			}
			return false
		})
		if isNeeded[index] || isRead {
			shown = append(shown, op)
		}
	}
	slices.SortFunc(shown, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	indices := make([]int, len(shown))
	for at, op := range shown {
		indices[at] = op.Metadata.(int)
	}
	return indices
}
