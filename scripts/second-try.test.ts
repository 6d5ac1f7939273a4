import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
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
  ...args: readonly string[]
): Promise<{ code: number; output: string }> {
  const project = await mkdtemp(join(tmpdir(), 'colophon-tests-'))
  t.after(() => rm(project, { recursive: true }))
  for (const folder of ['bin', 'scripts', 'src', 'test']) await mkdir(join(project, folder))
  await cp(join(import.meta.dirname, '..', 'bin', 'launcher.js'), join(project, 'bin', 'launcher.js'))
  for (const name of ['test.mjs', 'test-outcome.mjs', 'node24.mjs']) {
    await cp(join(import.meta.dirname, name), join(project, 'scripts', name))
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(project, name), content)
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env
  const child = spawn(process.execPath, [join(project, 'scripts', 'test.mjs'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { code: Number(code), output }
}

test('of a whole run, a file that failed is run once more, and is told of when it passes then', async (t) => {
  const { code, output } = await runTests(t, { 'src/a.test.mjs': PASSES, 'src/b.test.mjs': FAILS_ONCE })
  assert.equal(code, 0, output)
  assert.match(output, /second try only, to be looked into:\n✔ fails once \(.*b\.test\.mjs\)/)
  assert.match(output, /Of all tests:\nℹ tests 2\nℹ pass 2\nℹ fail 0\n/)
  assert.equal(output.match(/✔ passes/g)?.length, 1)
})

test('what fails again fails', async (t) => {
  const { code, output } = await runTests(t, {
    'src/a.test.mjs': PASSES,
    'src/b.test.mjs': FAILS_ONCE,
    'src/c.test.mjs': FAILS,
  })
  assert.equal(code, 1)
  assert.match(output, /Of all tests:\nℹ tests 3\nℹ pass 2\nℹ fail 1\n/)
  assert.doesNotMatch(output, /second try only/)
})

test('a test is run once more by the file that ran it, which may have it from another', async (t) => {
  const { code, output } = await runTests(t, {
    'src/shared.mjs': FAILS_ONCE,
    'test/group.test.mjs': `await import('../src/shared.mjs')`,
  })
  assert.equal(code, 0, output)
  assert.match(output, /Once more, .*group\.test\.mjs\n/)
  assert.match(output, /✔ fails once \(.*shared\.mjs\)/)
})

test('a file that crashed is run once more', async (t) => {
  const { code, output } = await runTests(t, { 'src/a.test.mjs': CRASHES_ONCE })
  assert.equal(code, 0, output)
})

test('many files that fail have failed, and so has one that was named', async (t) => {
  const names = ['a', 'b', 'c', 'd']
  const many = await runTests(
    t,
    Object.fromEntries(names.map((name) => [`src/${name}.test.mjs`, FAILS_ONCE.replaceAll('tried', name)])),
  )
  assert.equal(many.code, 1)
  assert.doesNotMatch(many.output, /Once more/)
  const named = await runTests(t, { 'src/a.test.mjs': FAILS_ONCE }, 'src/a.test.mjs')
  assert.equal(named.code, 1)
  assert.doesNotMatch(named.output, /Once more/)
})
