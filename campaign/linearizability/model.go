package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Operation is a line of a history.
type Operation struct {
	Client int    `json:"client"`
	Call   int64  `json:"call"`
	Return *int64 `json:"return"` // null when the client received no answer
	Op     Input  `json:"op"`
	Result Output `json:"result"`
}

// Input is a request.
type Input struct {
	Kind    string        `json:"kind"` // upsert, delete, read or count
	How     string        `json:"how"`  // for explanations
	Records []RecordInput `json:"records"`
	IDs     []string      `json:"ids"`
	Match   string        `json:"match"` // the version that If-Match requires, or *
	New     bool          `json:"new"`   // If-None-Match: *
}

// RecordInput has the fields that an upsert writes; absent ones keep their values.
type RecordInput struct {
	ID  string          `json:"id"`
	Set map[string]*int `json:"set"`
}

// Output is an answer. State is "done", "refused" (412), "failed" (nothing was written) or "unknown".
type Output struct {
	State    string   `json:"state"`
	Inserted int      `json:"inserted"`
	Updated  int      `json:"updated"`
	Deleted  int      `json:"deleted"`
	Count    int      `json:"count"`
	Version  string   `json:"version"`
	Records  []Record `json:"records"`
	Ordered  bool     `json:"ordered"` // whether the records must be in the order of creation
}

// Record is a record as it was read.
type Record struct {
	ID      string `json:"id"`
	A       *int   `json:"a"`
	B       *int   `json:"b"`
	Version string `json:"version"`
}

// The records of a history, and the greatest number of them.
const most = 4

// content has the values of a record; 0 is no value.
type content struct{ a, b int }

// state has the present records in the order of their creation. It is compared with ==.
type state struct {
	count   int
	ids     [most]int8
	records [most]content
}

// model knows the numbers of ids, and the contents of versions.
type model struct {
	ids      map[string]int8
	versions map[string]content
}

func newModel(history []Operation) (*model, error) {
	m := &model{ids: map[string]int8{}, versions: map[string]content{}}
	for _, op := range history {
		for _, id := range op.Op.named() {
			if _, known := m.ids[id]; !known {
				m.ids[id] = int8(len(m.ids))
			}
		}
	}
	if len(m.ids) > most {
		return nil, fmt.Errorf("a history has at most %d records, not %d", most, len(m.ids))
	}
	for _, op := range history {
		if written, version := op.Op.Records, op.Result.Version; version != "" && len(written) == 1 && len(written[0].Set) == 2 {
			is := content{value(written[0].Set["a"]), value(written[0].Set["b"])}
			if err := m.learn(written[0].ID, version, is); err != nil {
				return nil, err
			}
		}
		for _, record := range op.Result.Records {
			if record.Version == "" {
				continue
			}
			if err := m.learn(record.ID, record.Version, content{value(record.A), value(record.B)}); err != nil {
				return nil, err
			}
		}
	}
	for _, op := range history {
		for _, id := range op.Op.named() {
			if _, known := m.versions[id+" "+op.Op.Match]; !known && op.Op.Match != "" && op.Op.Match != "*" {
				return nil, fmt.Errorf("no client has seen version %s of record %s, which a write requires", op.Op.Match, id)
			}
		}
	}
	return m, nil
}

// learn refuses a version that two different contents have had.
func (m *model) learn(id, version string, is content) error {
	key := id + " " + version
	if was, known := m.versions[key]; known && was != is {
		return fmt.Errorf("version %s of record %s was returned for %s and for %s", version, id, was, is)
	}
	m.versions[key] = is
	return nil
}

func (in Input) named() []string {
	names := slices.Clone(in.IDs)
	for _, record := range in.Records {
		names = append(names, record.ID)
	}
	return names
}

func (in Input) isWrite() bool { return in.Kind == "upsert" || in.Kind == "delete" }

// step says whether an operation can have had this result in this state, and what it leaves.
func (m *model) step(before state, in Input, out Output) (bool, state) {
	if !in.isWrite() {
		return m.isRead(before, in, out), before
	}
	if out.State == "failed" {
		return true, before
	}
	allowed := m.isAllowed(before, in)
	if out.State == "refused" {
		return !allowed, before
	}
	if !allowed {
		return out.State == "unknown", before
	}
	if in.Kind == "delete" {
		after, deleted := m.delete(before, in.IDs)
		return out.State == "unknown" || out.Deleted == deleted, after
	}
	after, inserted := m.upsert(before, in.Records)
	if out.State == "unknown" {
		return true, after
	}
	counted := out.Inserted == inserted && out.Updated == len(in.Records)-inserted
	return counted && m.hasVersion(after, in, out.Version), after
}

// isAllowed holds a write to its conditions.
func (m *model) isAllowed(s state, in Input) bool {
	for _, id := range in.named() {
		at := s.find(m.ids[id])
		if in.New && at >= 0 {
			return false
		}
		if in.Match != "" && (at < 0 || (in.Match != "*" && s.records[at] != m.versions[id+" "+in.Match])) {
			return false
		}
	}
	return true
}

// hasVersion says whether a record can have the version that its write returned.
func (m *model) hasVersion(s state, in Input, version string) bool {
	if version == "" || len(in.Records) != 1 {
		return true
	}
	is, known := m.versions[in.Records[0].ID+" "+version]
	return !known || is == s.records[s.find(m.ids[in.Records[0].ID])]
}

func (m *model) upsert(s state, records []RecordInput) (state, int) {
	inserted := 0
	for _, record := range records {
		at := s.find(m.ids[record.ID])
		if at < 0 {
			at = s.count
			s.ids[at], s.records[at] = m.ids[record.ID], content{}
			s.count++
			inserted++
		}
		for field, set := range record.Set {
			if field == "a" {
				s.records[at].a = value(set)
			} else {
				s.records[at].b = value(set)
			}
		}
	}
	return s, inserted
}

func (m *model) delete(s state, ids []string) (state, int) {
	var after state
	for at := range s.count {
		if !slices.ContainsFunc(ids, func(id string) bool { return m.ids[id] == s.ids[at] }) {
			after.ids[after.count], after.records[after.count] = s.ids[at], s.records[at]
			after.count++
		}
	}
	return after, s.count - after.count
}

func (m *model) isRead(s state, in Input, out Output) bool {
	if in.Kind == "count" {
		return out.Count == s.count
	}
	present := 0
	for _, id := range in.IDs {
		if s.find(m.ids[id]) >= 0 {
			present++
		}
	}
	if len(out.Records) != present {
		return false
	}
	last := -1
	for _, record := range out.Records {
		at := s.find(m.ids[record.ID])
		if at < 0 || s.records[at] != (content{value(record.A), value(record.B)}) || (out.Ordered && at <= last) {
			return false
		}
		last = at
	}
	return true
}

func (s *state) find(id int8) int {
	for at := range s.count {
		if s.ids[at] == id {
			return at
		}
	}
	return -1
}

func value(of *int) int {
	if of == nil {
		return 0
	}
	return *of
}

func (c content) String() string { return fmt.Sprintf("{a: %s, b: %s}", shown(c.a), shown(c.b)) }

func shown(number int) string {
	if number == 0 {
		return "null"
	}
	return fmt.Sprint(number)
}

// describeState names the records of a state.
func (m *model) describeState(s state) string {
	names := make([]string, len(m.ids))
	for name, id := range m.ids {
		names[id] = name
	}
	parts := []string{}
	for at := range s.count {
		parts = append(parts, names[s.ids[at]]+" "+s.records[at].String())
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// describe is an operation with its result in one line.
func describe(in Input, out Output) string {
	text := in.Kind
	if in.How != "" {
		text += " (" + in.How + ")"
	}
	for _, record := range in.Records {
		set, _ := json.Marshal(record.Set)
		text += fmt.Sprintf(" %s %s", record.ID, set)
	}
	if len(in.IDs) > 0 {
		text += " " + strings.Join(in.IDs, ",")
	}
	if in.Match != "" {
		text += " if version is " + in.Match
	}
	if in.New {
		text += " if new"
	}
	text += " -> "
	if out.State != "done" {
		return text + out.State
	}
	switch in.Kind {
	case "upsert":
		text += fmt.Sprintf("inserted %d, updated %d", out.Inserted, out.Updated)
		if out.Version != "" {
			text += ", version " + out.Version
		}
	case "delete":
		text += fmt.Sprintf("deleted %d", out.Deleted)
	case "count":
		text += fmt.Sprint(out.Count)
	default:
		parts := []string{}
		for _, record := range out.Records {
			part := record.ID + " " + content{value(record.A), value(record.B)}.String()
			if record.Version != "" {
				part += " version " + record.Version
			}
			parts = append(parts, part)
		}
		text += "[" + strings.Join(parts, ", ") + "]"
	}
	return text
}
