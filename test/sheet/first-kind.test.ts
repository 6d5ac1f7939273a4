import { FirstKind } from '../../src/derivation/kinds/first/first-kind.ts'
import { testKind } from '../../src/derivation/kinds/kind-suite.ts'
import { LookupKind } from '../../src/derivation/kinds/lookup/lookup-kind.ts'
import { SqlKind } from '../../src/derivation/kinds/sql/sql-kind.ts'
import { formulaDialect } from '../../src/sheet/definition/formula-dialect.ts'
import { readTable } from '../../src/sheet/definition/read-table.ts'
import { FormulaProcess } from '../../src/store/sqlite/queries/formula-process.ts'
import { PATIENT_LIMITS } from '../../src/store/suite/support/patient-limits.ts'
import { contractWith } from '../support/contract-with.ts'

testKind('first', async () => {
  const formulas = new FormulaProcess(PATIENT_LIMITS)
  const dialect = await formulaDialect('sqlite')
  return {
    kind: new FirstKind(dialect),
    others: [new SqlKind(dialect), new LookupKind(readTable)],
    contract: contractWith('{name: name, logicalType: string}', '{name: loud, logicalType: string}'),
    file: `targets: [loud]
kind: first
steps:
  - {kind: import, source: names.csv, key_field: name, match: name, value_field: loud}
  - kind: sql
    expression: upper(name)
    accept: length(loud) < 10
`,
    sources: { 'names.csv': 'name,loud\nbob,Bobby\n' },
    formulas,
    good: { inputs: { name: 'ann' }, values: { loud: 'ANN' } },
    failing: { name: 'bob' },
    blocked: null,
    close: () => formulas.close(),
  }
})
