import assert from 'node:assert/strict'
import { enableCompileCache } from 'node:module'
import { after, before, suite, test } from 'node:test'
import { DEFAULT_QUERY_LIMITS } from '../../query-limits.ts'
import { FormulaProcess } from './formula-process.ts'

enableCompileCache()

const MIB = 1024 * 1024
const SIGNAL = new AbortController().signal

suite('the process of formulas', () => {
  let process: FormulaProcess

  before(() => {
    process = new FormulaProcess({ ...DEFAULT_QUERY_LIMITS, timeoutMs: 500 })
  })
  after(() => process.close())

  const compute = (expression: string, values: readonly (string | number)[], type: 'integer' | 'string') =>
    process.computeFormula(
      { expression, inputs: [{ name: 'v', type }], type: 'integer' },
      values.map((value) => [value]),
      SIGNAL,
    )

  test('a record that takes too long fails by itself', async () => {
    // Quadratic in the length: minutes for the long text.
    const expression = "instr(printf('%.*c', v, 'x'), printf('%.*c', v / 2, 'x') || 'y')"
    const results = await compute(expression, [10, 30_000_000, 20], 'integer')
    assert.deepEqual(results, [
      { ok: true, value: 0 },
      { ok: false, error: 'the formula took longer than 0.5 s and was stopped' },
      { ok: true, value: 0 },
    ])
  })

  test('a record that takes too much memory fails by itself', async (t) => {
    const small = new FormulaProcess({
      ...DEFAULT_QUERY_LIMITS,
      timeoutMs: 60_000,
      maxMemoryBytes: 110 * MIB,
    })
    t.after(() => small.close())
    // Holds the long text while it is searched, for minutes.
    const expression =
      "instr(printf('%.*c', v, 'x') || printf('%.*c', v, 'x'), printf('%.*c', v / 4, 'x') || 'y')"
    const inputs = [{ name: 'v', type: 'integer' }] as const
    const rows = [[1], [30_000_000], [2]]
    const results = await small.computeFormula({ expression, inputs, type: 'integer' }, rows, SIGNAL)
    assert.deepEqual(results, [
      { ok: true, value: 0 },
      { ok: false, error: 'the formula used more than 110 MiB of memory and was stopped' },
      { ok: true, value: 0 },
    ])
  })

  test('a record whose value cannot be computed fails by itself', async () => {
    const results = await compute("json_extract(v, '$.a')", ['{"a":1}', '{', '{"a":3}'], 'string')
    assert.deepEqual(results, [
      { ok: true, value: 1 },
      { ok: false, error: 'malformed JSON' },
      { ok: true, value: 3 },
    ])
  })

  test('an aborted signal stops what is under way, and the next formula is computed', async () => {
    const stop = new AbortController()
    const formula = { expression: 'v', inputs: [{ name: 'v', type: 'string' }], type: 'string' } as const
    const stopped = process.computeFormula(formula, [['a']], stop.signal)
    stop.abort(new Error('stopping'))
    await assert.rejects(stopped, /^Error: stopping$/)
    assert.deepEqual(await process.computeFormula(formula, [['b']], SIGNAL), [{ ok: true, value: 'b' }])
  })
})
