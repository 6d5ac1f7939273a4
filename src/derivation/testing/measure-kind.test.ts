import { testKind } from '../kinds/kind-suite.ts'
import { MeasureKind } from './measure-kind.ts'
import { testContract } from './test-contract.ts'

testKind('measure', async () => ({
  kind: new MeasureKind(),
  contract: testContract({ text: 'string', length: 'integer' }),
  file: 'targets: [length]\ninputs: [text]\nkind: measure\nfield: text\nunit: characters\n',
  good: { inputs: { text: 'hello' }, values: { length: 5 } },
  failing: { text: 'boundless' },
  blocked: { inputs: { text: null }, field: 'text' },
  close: () => Promise.resolve(),
}))
