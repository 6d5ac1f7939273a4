import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'

const PASSES = `import { test } from 'node:test'
test('passes', () => {})
`

const FAILS = `import { test } from 'node:test'
test('fails', () => { throw new Error('always') })
`

/** Fails unless it was run before, in the same folder. */
const FAILS_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
suite('by chance', () => {
  test('fails once', () => {
    const known = existsSync('tried')
    writeFileSync('tried', '')
    if (!known) throw new Error('the first time')
  })
})
`

const CRASHES_ONCE = FAILS_ONCE.replace(`throw new Error('the first time')`, 'process.exit(3)')

/** Runs `scripts/test.mjs` of a project with these test files. */
async function runTests(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  { args = [], ci = false }: { readonly args?: readonly string[]; readonly ci?: boolean } = {},
): Promise<{ code: number; output: string }> {
  const project = await mkdtemp(join(tmpdir(), 'colophon-tests-'))
  t.after(() => rm(project, { recursive: true }))
  for (const folder of ['bin', 'scripts', 'src', 'test']) await mkdir(join(project, folder))
  await cp(join(import.meta.dirname, '..', 'bin', 'launcher.js'), join(project, 'bin', 'launcher.js'))
  for (const name of ['test', 'test-events', 'test-groups', 'run-groups', 'node24']) {
    await cp(join(import.meta.dirname, `${name}.mjs`), join(project, 'scripts', `${name}.mjs`))
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(project, name), content)
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env
  const child = spawn(process.execPath, [join(project, 'scripts', 'test.mjs'), ...args], {
    env: { ...env, CI: String(ci) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { code: Number(code), output }
}

test('a whole run prints its progress, and the files of a folder share a process', async (t) => {
  const shares = `import { test } from 'node:test'
globalThis.loaded = (globalThis.loaded ?? 0) + 1
test('shares', (t) => t.assert.equal(globalThis.loaded, 2))
`
  const { code, output } = await runTests(t, {
    'src/a.test.mjs': shares,
    'src/b.test.mjs': shares,
    'test/c.test.mjs': PASSES,
  })
  assert.equal(code, 0, output)
  assert.match(output, /^\d+:\d\d {2}2 of 2 groups: /m)
})

test('in a whole run, a failed file runs once more, and is flaky if it passes then', async (t) => {
  const { code, output } = await runTests(t, { 'src/a.test.mjs': PASSES, 'test/b.test.mjs': FAILS_ONCE })
  assert.equal(code, 0, output)
  assert.match(output, /^Second try, alone: test\/b\.test\.mjs$/m)
  assert.match(output, /^✔ fails once \(test\/b\.test\.mjs\), not in test\/flaky\.md: add it/m)
  assert.match(output, /Of all tests:\nℹ tests 2\nℹ pass 2\nℹ fail 0\n(?:ℹ .*\n)*ℹ flaky 1\n/)
})

test('in continuous integration a flaky test fails unless it is listed', async (t) => {
  const unlisted = await runTests(t, { 'test/b.test.mjs': FAILS_ONCE }, { ci: true })
  assert.equal(unlisted.code, 1)
  assert.match(unlisted.output, /ℹ fail 0\n/)
  const row = (name: string, file: string): string => `| \`${name}\` | \`${file}\` | today | a race |\n`
  const others = row('never fails once more', 'test/b.test.mjs') + row('fails once', 'test/a.test.mjs')
  const files = { 'test/b.test.mjs': FAILS_ONCE, 'test/flaky.md': others }
  const similar = await runTests(t, files, { ci: true })
  assert.equal(similar.code, 1)
  const known = { ...files, 'test/flaky.md': others + row('fails once', 'test/b.test.mjs') }
  const listed = await runTests(t, known, { ci: true })
  assert.equal(listed.code, 0, listed.output)
  assert.match(listed.output, /^✔ fails once \(test\/b\.test\.mjs\), see test\/flaky\.md$/m)
})

/** Some of its tests fail unless they were run before, the others if they were. Names have characters of patterns. */
const SOME_FAIL_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'
const again = existsSync('tried')
writeFileSync('tried', '')
const failsOnce = () => { if (!again) throw new Error('the first time') }
const passesOnce = () => { if (again) throw new Error('not asked for') }
test('a/b (1+1) \\\\ [x]', failsOnce)
test('a/b (1+1) \\\\ [x] more', passesOnce)
test('outer', async (t) => {
  await t.test('inner', failsOnce)
  await t.test('beside', () => {})
})
suite('of two', () => {
  test('one', failsOnce)
  test('other', passesOnce)
})
`

test('a second try runs the failed tests alone, by their names', async (t) => {
  const { code, output } = await runTests(t, { 'test/b.test.mjs': SOME_FAIL_ONCE })
  assert.equal(code, 0, output)
  assert.match(output, /Of all tests:\nℹ tests 7\nℹ pass 7\nℹ fail 0\n(?:ℹ .*\n)*ℹ flaky 3\n/)
})

test('a failed test that does not run again has failed', async (t) => {
  const vanishes = FAILS_ONCE.replace('  test(', `  if (!existsSync('tried')) test(`)
  const { code, output } = await runTests(t, { 'test/b.test.mjs': vanishes })
  assert.equal(code, 1, output)
  assert.match(output, /^Failed:\n✖ fails once \(test\/b\.test\.mjs\)$/m)
  assert.match(output, /Of all tests:\nℹ tests 1\nℹ pass 0\nℹ fail 1\n(?:ℹ .*\n)*ℹ flaky 0\n/)
})

test('a second failure is a failure', async (t) => {
  const { code, output } = await runTests(t, {
    'src/a.test.mjs': PASSES,
    'src/c.test.mjs': FAILS,
    'test/b.test.mjs': FAILS_ONCE,
  })
  assert.equal(code, 1)
  assert.match(output, /^Failed:\n✖ fails \(src\/c\.test\.mjs\)$/m)
  assert.match(output, /Of all tests:\nℹ tests 3\nℹ pass 2\nℹ fail 1\n(?:ℹ .*\n)*ℹ flaky 1\n/)
})

test('if tests from another file failed in a file, they run once more in its group', async (t) => {
  const { code, output } = await runTests(t, {
    'src/shared.mjs': SOME_FAIL_ONCE,
    'test/group.test.mjs': `await import('../src/shared.mjs')`,
  })
  assert.equal(code, 0, output)
  assert.match(output, /^Second try, alone: test$/m)
  assert.match(output, /^✔ inner \(src\/shared\.mjs\), /m)
})

test('the group of a crashed file runs once more', async (t) => {
  const { code, output } = await runTests(t, { 'src/a.test.mjs': CRASHES_ONCE, 'src/b.test.mjs': PASSES })
  assert.equal(code, 0, output)
  assert.match(output, /Of all tests:\nℹ tests 2\nℹ pass 2\nℹ fail 0\n/)
})

test('a group whose process ends before its last test has failed, whatever the exit code', async (t) => {
  const crashes = (code: number): string =>
    FAILS.replace(`throw new Error('always')`, `process.exit(${code})`)
  const quiet = await runTests(t, { 'src/a.test.mjs': crashes(0), 'src/b.test.mjs': PASSES })
  assert.equal(quiet.code, 1, quiet.output)
  const hidden = await runTests(t, { 'src/a.test.mjs': FAILS_ONCE, 'src/b.test.mjs': crashes(3) })
  assert.equal(hidden.code, 1, hidden.output)
  assert.match(hidden.output, /^Second try, alone: src$/m)
})

test('many failed files are failures, and so is a file that was named', async (t) => {
  const names = ['a', 'b', 'c', 'd']
  const many = await runTests(
    t,
    Object.fromEntries(names.map((name) => [`src/${name}.test.mjs`, FAILS_ONCE.replaceAll('tried', name)])),
  )
  assert.equal(many.code, 1)
  assert.doesNotMatch(many.output, /Second try/)
  assert.match(many.output, /ℹ tests 4\nℹ pass 0\nℹ fail 4\n/)
  const named = await runTests(t, { 'src/a.test.mjs': FAILS_ONCE }, { args: ['src/a.test.mjs'] })
  assert.equal(named.code, 1)
  assert.doesNotMatch(named.output, /Second try/)
})

test('each listed flaky test exists', async () => {
  const root = join(import.meta.dirname, '..')
  const list = await readFile(join(root, 'test', 'flaky.md'), 'utf8')
  for (const [, name = '', file = ''] of list.matchAll(/^\| `(.+?)` +\| `(.+?)` +\|/gm)) {
    assert.ok((await readFile(join(root, file), 'utf8')).includes(name), `${name} is not in ${file}`)
  }
})
