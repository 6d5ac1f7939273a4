import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actorOptions, matchingWriters, runOptions } from './writer-options.ts'

test('actors are offered with the kinds that have several', () => {
  const actors = [
    { actor: 'agent:a', cells: 3 },
    { actor: 'human:ann', cells: 2 },
    { actor: 'agent:b', cells: 1 },
    { actor: 'cron', cells: 1 },
    { actor: 'nightly', cells: 1 },
  ]
  assert.deepEqual(
    actorOptions({ actors, latest_run: null }).map(({ name, note }) => `${name} ${note}`),
    [
      'agent:* 4 cells',
      'agent:a 3 cells',
      'agent:b 1 cell',
      'human:ann 2 cells',
      'cron 1 cell',
      'nightly 1 cell',
    ],
  )
})

test('what is typed filters the offered names, and can be picked itself', () => {
  const runs = runOptions([
    { id: '12', kind: 'materialize', actor: 'human:ann' },
    { id: '3', kind: 'import', actor: 'human:ann' },
  ])
  const names = (picked: readonly string[], typed: string): readonly string[] =>
    matchingWriters(runs, picked, typed).map(({ name }) => name)
  assert.deepEqual(names([], ''), ['12', '3'])
  assert.deepEqual(names(['7'], ''), ['7', '12', '3'])
  assert.deepEqual(names([], '1'), ['12', '1'])
  assert.deepEqual(names([], '12'), ['12'])
})
