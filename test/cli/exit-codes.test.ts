import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { EXIT } from '../../src/cli/terminal/exit-codes.ts'
import { createProgram } from '../../src/cli/program.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { HeldRates } from '../support/held-rates.ts'
import { readPage, section, tableOf } from '../support/markdown.ts'
import { BIN, runColophon } from '../support/run-colophon.ts'
import { runCommand } from '../support/run-command.ts'
import { RATES, writeSheet } from '../support/sheet-fixture.ts'

test('the exit codes are those of the command line reference', () => {
  const { rows } = tableOf(section(readPage('docs/reference/cli.md'), 'Exit codes'), 'Code')
  assert.deepEqual(
    rows.map(([code = '']) => Number(code.replaceAll('`', ''))),
    Object.values(EXIT),
  )
})

/** The arguments after the sheet for each command that works on one: for a success, and for a refusal. */
const CASES: Readonly<Record<string, { done: string[]; refused: string[] }>> = {
  validate: { done: [], refused: ['--records'] },
  verify: { done: [], refused: ['--key', 'no-such-file.key'] },
  contract: { done: [], refused: [] },
  list: { done: [], refused: ['--fields', 'colour'] },
  count: { done: [], refused: ['--filter', 'colour = 1'] },
  summary: { done: [], refused: ['--fields', 'colour'] },
  get: { done: ['a'], refused: ['nobody'] },
  upsert: { done: [], refused: ['no-such-file.csv'] },
  delete: { done: ['nobody'], refused: [] },
  deleted: { done: [], refused: ['--cursor', 'x'] },
  query: { done: ['SELECT 1'], refused: ['DROP TABLE records'] },
  derivations: { done: [], refused: ['nothing.yaml'] },
  materialize: { done: ['--dry-run'], refused: ['--target', 'title'] },
  cache: { done: [], refused: [] },
  status: { done: [], refused: ['--target', 'title'] },
  provenance: { done: ['a', 'rate'], refused: ['nobody', 'rate'] },
  checkpoint: { done: [], refused: ['--sign-key', 'nowhere'] },
  proof: { done: ['a', 'title'], refused: ['nobody', 'rate'] },
  runs: { done: [], refused: ['7'] },
  revert: { done: ['--record', 'a', '--field', 'title', '--seq', '2'], refused: ['--run', '7'] },
  proposals: { done: [], refused: ['7'] },
  reviews: { done: [], refused: ['--record', 'nobody'] },
  history: { done: [], refused: ['--revert', '7'] },
}

const env = { COLOPHON_ACTOR: 'human:ann' }

test('every command exits with 0 on success', async (t) => {
  const sheet = await writeSheet(t)
  // Entry 2, for `revert`.
  assert.equal((await runCommand(['upsert', sheet], { env, input: '{"id":"a","title":"B"}' })).code, 0)
  // For `restore`.
  await runCommand(['upsert', sheet], { env, input: '{"id":"gone","title":"G"}' })
  assert.equal((await runCommand(['delete', sheet, 'gone'], { env })).code, 0)
  await Promise.all(
    Object.entries(CASES).map(async ([command, { done }]) => {
      const { code, stderr } = await runCommand([command, sheet, ...done], { env })
      assert.deepEqual([command, code, stderr], [command, EXIT.done, ''])
    }),
  )
})

test('every command exits with 1 and one line on standard error on failure', async (t) => {
  const sheet = await writeSheet(t)
  await Promise.all(
    Object.entries(CASES)
      .filter(([command, { refused }]) => command !== 'validate' && refused.length > 0)
      .map(async ([command, { refused }]) => {
        const { code, stdout, stderr } = await runCommand([command, sheet, ...refused], { env })
        assert.deepEqual([command, code, stdout], [command, EXIT.error, ''])
        assert.match(stderr, /^error: [^\n]+\n$/)
        assert.doesNotMatch(stderr, /\/api\//)
      }),
  )
  await Promise.all(
    Object.entries(CASES).map(async ([command, { done }]) => {
      const { code, stdout, stderr } = await runCommand([command, join(sheet, 'nowhere'), ...done], { env })
      assert.deepEqual([command, code, stdout], [command, EXIT.error, ''])
      assert.match(stderr, /^error: \S+ is not a directory; [^\n]+\n$/)
    }),
  )
})

test('every command exits with 2 for invalid options and arguments', async (t) => {
  const sheet = await writeSheet(t)
  const cases = Object.entries(CASES).flatMap(([command, { done }]) => [
    [command],
    [command, sheet, ...done, '--no-such-option'],
    [command, sheet, ...done, '--format', 'xml'],
  ])
  const further = [
    ['list', sheet, '--limit', '0'],
    ['list', sheet, '--all', '--limit', '3'],
    ['list', sheet, '--fields', ','],
    ['query', sheet, 'SELECT 1', '--query-rows', 'many'],
    ['materialize', sheet, '--max-cost', 'lots'],
    ['materialize', sheet, '--offline', '--allow-net', 'x.example'],
    ['runs', sheet, '--failures'],
    ['revert', sheet],
    ['revert', sheet, '--ids', 'a', '--seq', '1'],
    ['list', sheet, '--json', '--format', 'table'],
    ['proposals', sheet, '--accept'],
    ['proposals', sheet, '1', '--accept', '--reject'],
    ['proposals', sheet, '1', '--reason', 'x'],
    ['revert', sheet, '--run', '1', '--record', 'a'],
    ['status', sheet, 'a'],
    ['completion', 'tcsh'],
  ]
  await Promise.all(
    [...cases, ...further].map(async (args) => {
      const { code, stdout, stderr } = await runCommand(args, { env })
      assert.deepEqual([args.slice(0, 1), code, stdout], [args.slice(0, 1), EXIT.usage, ''], args.join(' '))
      assert.match(stderr, /^error: /)
    }),
  )
})

test('each command of these tables exists, and each command that works on a sheet is in them', () => {
  // These have tests of their own.
  const elsewhere = new Set([
    'serve',
    'mcp',
    'init',
    'import',
    'export',
    'replay',
    'merge-driver',
    'completion',
    'push',
    'pull',
    'worker',
    'sign-key',
    'erase',
    // With commands of their own.
    'derivation',
    'field',
  ])
  const names = createProgram().commands.map((command) => command.name())
  assert.deepEqual(new Set(names.filter((name) => !elsewhere.has(name))), new Set(Object.keys(CASES)))
})

test('a closed pipe ends a command quietly with 0', async (t) => {
  const records = Array.from({ length: 20_000 }, (_, index) => ({ id: `r${index}`, title: 'x'.repeat(50) }))
  const sheet = await writeSheet(t, { records })
  for (const args of [
    ['list', sheet, '--all', '--format', 'ndjson'],
    ['list', sheet, '--all'],
    ['query', sheet, 'SELECT * FROM records', '--query-rows', '20000', '--query-timeout', '60'],
  ]) {
    const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (chunk) => (stderr += String(chunk)))
    const closed = once(child, 'close')
    // A command that fails writes nothing, and ends.
    await Promise.race([once(child.stdout, 'data'), closed])
    child.stdout.destroy()
    const [code] = (await closed) as [number | null]
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
  }
})

test('help to a closed pipe ends quietly with 0', async () => {
  for (const args of [['--help'], ['init', '--help'], ['--version']]) {
    const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (chunk) => (stderr += String(chunk)))
    const [code] = (await once(child, 'close')) as [number | null]
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
  }
})

test('SIGINT ends a run in a pipe with 130 once its end has been stored', async (t) => {
  const rates = await HeldRates.start(t, 12)
  const args = ['materialize', rates.sheet, '--actor', 'agent:test', '--progress', 'plain']
  const first = new ColophonProcess(t, args)
  await rates.waiting(8)
  first.kill('SIGINT')
  const { code, stdout, stderr } = await first.end()
  assert.deepEqual([code, stdout], [EXIT.interrupted, ''])
  assert.match(stderr, /^Cancelled: 0 of 12 cells were done and stay \(run 1, 8 calls, cost not set\)\.\n$/)
  const { stdout: runs } = await runCommand(['runs', rates.sheet])
  assert.partialDeepStrictEqual(JSON.parse(runs), { runs: [{ id: '1', state: 'cancelled' }] })
})

test('a process exits with the code of its command; 3 is for failed cells alone, not for a run that ended early', async (t) => {
  const sheet = await writeSheet(t)
  const stub = join(sheet, 'stub.json')
  await writeFile(stub, RATES)
  const run = (...args: string[]) => runColophon(['materialize', sheet, '--stub', stub, ...args], { env })
  assert.equal((await run('--max-calls', '1')).code, EXIT.done)
  assert.equal((await run()).code, EXIT.failedCells)
  assert.equal((await run('--target', 'title')).code, EXIT.error)
  assert.equal((await run('--no-such-option')).code, EXIT.usage)
})
