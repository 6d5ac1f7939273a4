import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { findConfinement } from '../../src/sheet/scripts/confinement.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { contractText } from '../support/contract-with.ts'
import { runColophon } from '../support/run-colophon.ts'
import { runCommand } from '../support/run-command.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const found = await findConfinement()
const unconfinable = found.ok ? false : found.error

async function sheetWithScript(t: TestContext): Promise<string> {
  const sheet = await writeSheet(t, {
    contract: contractText(['{name: a, logicalType: string}', '{name: b, logicalType: string}']),
    records: [{ id: '1', a: 'x' }],
    derivations: { 'b.yaml': '{targets: [b], inputs: [a], kind: script, script: b}' },
  })
  await mkdir(join(sheet, 'scripts'))
  await writeFile(join(sheet, 'scripts', 'b.sh'), 'test -e /etc/passwd && echo open || echo closed\n')
  return sheet
}

/** Returns the second line of the start message. */
async function startLine(t: TestContext, args: readonly string[]): Promise<string | undefined> {
  const running = new ColophonProcess(t, ['serve', ...args, '--port', '0'])
  await running.port()
  running.kill('SIGTERM')
  return (await running.end()).stdout.split('\n')[1]
}

test('the start message of serve names the scripts, and says that they are off or unconfined', async (t) => {
  const sheet = await sheetWithScript(t)
  const off =
    'refused, scripts are off, since a sheet may come from anybody; --allow-scripts runs them confined'
  assert.equal(await startLine(t, [sheet]), `Its derivations run scripts/b: ${off}`)
  assert.equal(
    await startLine(t, [sheet, '--allow-scripts=unconfined']),
    'Its derivations run scripts/b, unconfined: with all that this user may do',
  )
})

test(
  '--allow-scripts confines, before and after the sheet, and the start message says by what',
  { skip: unconfinable },
  async (t) => {
    const sheet = await sheetWithScript(t)
    const by = found.ok ? found.value : ''
    assert.equal(
      await startLine(t, ['--allow-scripts', sheet]),
      `Its derivations run scripts/b, confined by ${by}`,
    )
    const { stdout, code } = await runColophon([
      'materialize',
      sheet,
      '--actor',
      'human:ann',
      '--allow-scripts',
    ])
    assert.deepEqual([code, (JSON.parse(stdout) as { materialized: number }).materialized], [0, 1])
    const { stdout: record } = await runCommand(['get', sheet, '1', '--json'])
    assert.match(record, /"b":"closed"/)
  },
)

test('an unknown value of --allow-scripts is wrong usage', async () => {
  const { code, stderr } = await runCommand(['materialize', '.', '--allow-scripts=all'])
  assert.equal(code, 2)
  assert.match(stderr, /Allowed choices are confined, unconfined/)
})
