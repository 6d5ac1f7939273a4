import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { BIN, commandEnvironment } from '../support/run-colophon.ts'
import { runCommand } from '../support/run-command.ts'
import { openLookupSheet } from '../support/run-fixture.ts'
import { temporaryDirectory } from '../support/temporary-file.ts'

/** The command in a network namespace without an interface, where the machine permits one. */
const ISOLATED =
  spawnSync('unshare', ['--user', '--map-root-user', '--net', 'true']).status === 0
    ? ['unshare', '--user', '--map-root-user', '--net', process.execPath, BIN]
    : [process.execPath, BIN]

function isolated(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const [program = '', ...before] = ISOLATED
  const { status, stdout, stderr } = spawnSync(program, [...before, ...args], {
    encoding: 'utf8',
    env: commandEnvironment({}),
  })
  return { code: status, stdout, stderr }
}

test('an archive with its recording is replayed without a network, twice the same byte for byte', async (t) => {
  const run = await openLookupSheet(
    t,
    ['x', 'y', 'no'].map((a, index) => ({ id: `${index + 1}`, a })),
  )
  const { directory: sheet, api } = run
  api.answer('/b/no', { status: 404, json: {} })
  await run.run()
  const directory = await temporaryDirectory(t)
  const file = join(directory, 'sheet.zip')
  const plain = await runCommand(['export', sheet, file, '--format', 'csv', '--with-recording'])
  assert.match(plain.stderr, /--with-recording applies to archive, and the format is csv/)
  await runCommand(['cache', sheet, '--trim', '0', '--yes'])
  const uncovered = await runCommand(['export', sheet, file, '--format', 'archive', '--with-recording'])
  assert.match(
    uncovered.stderr,
    /^The recording has 0 calls, and none for 3 cells, which cannot be replayed: b of 1, b of 2, b of 3\./,
  )
  await run.run({ force: true })
  const done = await runCommand(['export', sheet, file, '--format', 'archive', '--with-recording'])
  assert.deepEqual(done, { code: 0, stdout: '', stderr: '' })
  const calls = api.requests.length
  const first = isolated('replay', file, '--json')
  assert.deepEqual([first.code, first.stderr], [0, ''])
  const { digest, ...report } = JSON.parse(first.stdout) as { digest: string }
  assert.match(digest, /^sha256:[0-9a-f]{64}$/)
  assert.deepEqual(report, {
    runs: 1,
    cells: 3,
    equal: 3,
    different_costs: 0,
    missed: 0,
    not_computed: 0,
    different: 0,
    left_out: 0,
    calls: 3,
    total_cost: 0,
    misses: [],
    cells_not_computed: [],
    differences: [],
    cost_differences: [],
    different_runs: [],
    cells_left_out: [],
  })
  assert.deepEqual(isolated('replay', file, '--json'), first)
  await mkdir(join(directory, 'derivations'))
  const text = await readFile(join(sheet, 'derivations/b.yaml'), 'utf8')
  await writeFile(join(directory, 'derivations/b.yaml'), text.replace('{{ a }}', '{{ a }}-'))
  const changed = await runCommand(['replay', file, '--with', directory, '--format', 'table'])
  assert.equal(changed.code, 3)
  assert.match(
    changed.stdout,
    /^3 cells of 1 run replayed with 0 recorded calls, \$0\n0 as in the archive\n3 not in the recording\n {2}b of 1: GET http:\S+\/b\/x- -> not in the recording; the nearest request is that of record "1" in run 2: the URL differs at character \d+: "-", recorded ""\n/,
  )
  assert.equal(api.requests.length, calls)
  const unconfined = await runCommand(['replay', file, '--allow-scripts=unconfined'])
  assert.match(unconfined.stderr, /unconfined does not apply to replay: scripts could reach the network/)
  assert.match((await runCommand(['replay', file, '--with', `${sheet}-no`])).stderr, /has none of the files/)
})
