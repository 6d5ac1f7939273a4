import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { KEPT_GUARDS, SecretGuards } from './secret-guard-cache.ts'

test('the guard of a set of secrets is cached, and other secrets have another guard', () => {
  const guards = new SecretGuards()
  const first = guards.of(['geheim-1', 'geheim-2'])
  assert.equal(guards.of(['geheim-1', 'geheim-2']), first)
  const second = guards.of(['geheim-3'])
  assert.ok(second.isIn('geheim-3') && !second.isIn('geheim-1'))
  assert.notEqual(guards.of(['geheim-1geheim-2']), first)
})

test('only a few guards are cached, the newest', () => {
  const guards = new SecretGuards()
  const all = Array.from({ length: KEPT_GUARDS + 1 }, (_, index) => guards.of([`geheim-${index}`]))
  assert.equal(guards.of([`geheim-${KEPT_GUARDS}`]), all[KEPT_GUARDS])
  assert.equal(guards.of(['geheim-1']), all[1])
  assert.notEqual(guards.of(['geheim-0']), all[0])
})

test('D23: inspecting the cache shows no secret', () => {
  const guards = new SecretGuards()
  const guard = guards.of(['geheim-1'])
  guard.isIn('something long enough')
  const shown = inspect([guards, guard], { depth: null, showHidden: true }) + JSON.stringify([guards, guard])
  assert.ok(!shown.includes('geheim'))
})
