import { testKind } from '../kinds/kind-suite.ts'
import { BatchMeasureKind, MeasureKind } from './measure-kind.ts'
import { testContract } from './test-contract.ts'

for (const [name, Kind] of Object.entries({ measure: MeasureKind, measures: BatchMeasureKind })) {
  testKind(name, async () => ({
    kind: new Kind(name),
    contract: testContract({ text: 'string', length: 'integer' }),
    file: `targets: [length]\ninputs: [text]\nkind: ${name}\nfield: text\nunit: characters\n`,
    good: { inputs: { text: 'hello' }, values: { length: 5 } },
    failing: { text: 'boundless' },
    blocked: { inputs: { text: null }, field: 'text' },
    close: () => Promise.resolve(),
  }))
}
