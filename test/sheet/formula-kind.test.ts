import { testKind } from '../../src/derivation/kinds/kind-suite.ts'
import { SqlKind } from '../../src/derivation/kinds/sql/sql-kind.ts'
import { formulaDialect } from '../../src/sheet/definition/formula-dialect.ts'
import { FormulaProcess } from '../../src/store/sqlite/queries/formula-process.ts'
import { PATIENT_LIMITS } from '../../src/store/suite/support/patient-limits.ts'
import { contractWith } from '../support/contract-with.ts'

testKind('sql', async () => {
  const formulas = new FormulaProcess(PATIENT_LIMITS)
  return {
    kind: new SqlKind(await formulaDialect('sqlite')),
    contract: contractWith('{name: name, logicalType: string}', '{name: loud, logicalType: string}'),
    file: ['targets: [loud]', 'kind: sql', 'expression: upper(name)', ''].join('\n'),
    formulas,
    good: { inputs: { name: 'ann' }, values: { loud: 'ANN' } },
    failing: { name: 'bob' },
    blocked: null,
    close: () => formulas.close(),
  }
})
