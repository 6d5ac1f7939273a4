import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryError } from '../../../errors/service-error.ts'
import { ok, type Result } from '../../../errors/result.ts'
import type { FormulaRow } from '../../formula.ts'
import type { QueryPass, QueryRow } from '../../records-query.ts'
import { inTurns } from './query-turns.ts'

interface Turns {
  readonly results: readonly Result<QueryRow, string>[]
  /** The rows of each try. */
  readonly tries: readonly string[]
  readonly stopped: readonly boolean[]
}

/** Runs rows of one letter; a try fails with the first error of its letters that `faults` still has. */
async function turnsOf(letters: string, faults: Readonly<Record<string, readonly string[]>>): Promise<Turns> {
  const left = new Map(Object.entries(faults).map(([letter, codes]) => [letter, [...codes]]))
  const tries: string[] = []
  const stopped: boolean[] = []
  const pass: QueryPass = {
    given: null,
    succeeded: () => undefined,
    failed: (_, wasStopped) => void stopped.push(wasStopped),
  }
  const compute = async (rows: readonly FormulaRow[]): Promise<readonly Result<QueryRow, string>[]> => {
    tries.push(rows.map(([letter]) => String(letter)).join(''))
    for (const [letter] of rows) {
      const code = left.get(String(letter))?.shift()
      if (code !== undefined) throw new QueryError(code, code as 'query_memory')
    }
    return rows.map(([letter]) => ok({ value: letter ?? null }))
  }
  const results = await inTurns(
    [...letters].map((letter) => [letter]),
    pass,
    compute,
  )
  return { results, tries, stopped }
}

test('a row that lacks memory is tried once more, alone', async () => {
  for (const letters of ['a', 'ab']) {
    const { results, tries, stopped } = await turnsOf(letters, { a: ['query_memory'] })
    assert.ok(results.every(({ ok: isOk }) => isOk))
    assert.deepEqual(tries.slice(0, 2), [letters, 'a'])
    assert.deepEqual(stopped, [])
  }
  const { results, tries, stopped } = await turnsOf('ab', { a: ['query_memory', 'query_memory'] })
  assert.deepEqual(
    results.map(({ ok: isOk }) => isOk),
    [false, true],
  )
  assert.deepEqual([tries, stopped], [['ab', 'a', 'b'], [true]])
})

test('a row that fails for another reason is not tried again alone', async () => {
  const { tries, stopped } = await turnsOf('a', { a: ['query_timeout'] })
  assert.deepEqual([tries, stopped], [['a'], [true]])
})
