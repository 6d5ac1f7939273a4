import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initFrom, openUntilEnd, recordsOf, scratch } from '../support/init-files.ts'

const ROWS = [
  '{"id":1234567890123456781,"n":9007199254740993,"o":{"a":9007199254740993},"x":0.5}',
  '{"id":1234567890123456783,"n":2,"o":{"a":1},"x":0.10000000000000001}',
]

for (const [name, content, place] of [
  ['data.json', `[${ROWS.join(',')}]`, 'record 1'],
  ['data.ndjson', ROWS.join('\n'), 'line 1'],
] as const) {
  test(`integers beyond 2^53 in ${name} keep every digit, as ids and as texts`, async (t) => {
    const { report, directory } = await initFrom(await scratch(t), [name, content])
    const sheet = await openUntilEnd(t, directory)
    assert.deepEqual(await recordsOf(sheet), [
      { id: '1234567890123456781', n: '9007199254740993', o: '{"a":9007199254740993}', x: 0.5 },
      { id: '1234567890123456783', n: '2', o: '{"a":1}', x: 0.1 },
    ])
    const doubts = (report.fields?.[1]?.doubts ?? []).join()
    assert.ok(doubts.includes(`more digits than a number keeps: 9007199254740993 in ${place}: kept as text`))
  })
}
