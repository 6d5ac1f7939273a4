import { testKind } from '../../src/derivation/kinds/kind-suite.ts'
import { ScriptKind } from '../../src/derivation/kinds/script/script-kind.ts'
import { LocalScripts } from '../../src/sheet/scripts/script-processes.ts'
import { contractWith } from '../support/contract-with.ts'

const SCRIPT = `
const { n } = JSON.parse(process.argv[3])
if (n < 0) throw new Error('negative')
console.log(JSON.stringify({ square: n * n, word: 'n' + n }))
`

testKind('script', async () => {
  const host = new LocalScripts('unconfined', null)
  return {
    kind: new ScriptKind('script', host, {}),
    contract: contractWith(
      '{name: n, logicalType: integer}',
      '{name: square, logicalType: integer}',
      '{name: word, logicalType: string}',
    ),
    file: 'targets: [square, word]\ninputs: [n]\nkind: script\nscript: square\noutput: json\n',
    sources: { 'scripts/square.js': SCRIPT },
    good: { inputs: { n: 7 }, values: { square: 49, word: 'n7' } },
    failing: { n: -1 },
    blocked: null,
    close: () => host.close(),
  }
})

const BATCH = `
const { createInterface } = require('node:readline')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, inputs: { n } } = JSON.parse(line)
  const answer = n < 0 ? { error: 'negative' } : { values: { square: n * n } }
  console.log(JSON.stringify({ id, ...answer }))
})
`

testKind('python', async () => {
  const host = new LocalScripts('unconfined', null)
  return {
    kind: new ScriptKind('python', host, {}),
    contract: contractWith('{name: n, logicalType: integer}', '{name: square, logicalType: integer}'),
    file: 'targets: [square]\ninputs: [n]\nkind: python\nscript: square\nbatch: true\n',
    sources: { 'scripts/square.js': BATCH },
    good: { inputs: { n: 7 }, values: { square: 49 } },
    failing: { n: -1 },
    blocked: null,
    close: () => host.close(),
  }
})
