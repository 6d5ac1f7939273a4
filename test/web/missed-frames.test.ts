import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { NO_BROWSER } from '../support/browser.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { exampleSheet } from '../support/example.ts'
import { GatedApi } from '../support/gated-api.ts'
import { onEnd } from '../support/on-end.ts'
import { startPostgres } from '../support/postgres.ts'
import { runColophon } from '../support/run-colophon.ts'
import { StreamCutter } from '../support/stream-cutter.ts'
import { cellAt, eventually, SheetViewer, shows } from '../support/viewer.ts'

const PLACE = '/?cell=AD~currency_name&panel=1'
/** All of other currencies. Where all fail, only frames tell that anything has changed. */
const RECORDS = ['AD', 'AE', 'AF', 'AG', 'AL', 'AM', 'AO', 'AR', 'AU', 'AZ', 'BA']
const GOES_ON = { name: /^Run \d+ is running$/ }

/** Forgets the frames of a store, as a server does with those that are too old. */
async function forgetFrames(store: string): Promise<void> {
  const [, schema = ''] = /schema=(\w+)/.exec(store) ?? []
  const client = new Client({ connectionString: store.replace(/&schema=\w+/, '') })
  await client.connect()
  await client.query(`DELETE FROM "${schema}"."$frame"`)
  await client.end()
}

test('pages that missed removed frames read their data again', { skip: NO_BROWSER }, async (t) => {
  const sheet = await exampleSheet()
  onEnd(t, () => sheet.cleanup())
  const gate = await GatedApi.before(t, sheet)
  const store = (await startPostgres()).freshUrl()
  const pushed = await runColophon(['push', sheet.path], {
    env: { COLOPHON_STORE: store, COLOPHON_ACTOR: 'human:ann' },
  })
  assert.equal(pushed.code, 0, pushed.stderr)
  const server = new ColophonProcess(t, ['serve', '--store', store, '--port', '0'])
  const cutter = await StreamCutter.before(t, await server.port())
  const viewer = await SheetViewer.at(t, cutter.url)
  const context = await viewer.newContext()
  // One of them has the stream of the run, and tells the others.
  const readers = [await viewer.open(PLACE, context), await viewer.open(PLACE, context)]
  const writer = await viewer.open(PLACE, context)

  gate.close()
  gate.refuse(/./)
  const run = viewer.post('/api/materialize', {
    targets: ['currency_name'],
    record_ids: RECORDS,
    actor: 'human:ann',
  })
  for (const page of [...readers, writer]) await page.getByRole('group', GOES_ON).waitFor()
  await eventually(() => assert.equal(cutter.streams, 1))
  const edited = await cellAt(writer, 0, 'Name in Japanese')
  await edited.dblclick()
  await writer.keyboard.insertText('not saved yet')

  cutter.cut()
  await eventually(() => assert.ok(gate.waiting >= 4))
  gate.open(4)
  await eventually(async () => {
    const { state } = await viewer.get<{ state: string }>('/api/status/currency_name/AD')
    assert.equal(state, 'failed')
  })
  await forgetFrames(store)
  cutter.mend()
  for (const page of readers) {
    await page.getByRole('heading', { name: 'Why it failed' }).waitFor()
    await page.getByRole('group', GOES_ON).waitFor()
    assert.equal(page.url(), viewer.url + PLACE)
  }
  await writer.keyboard.insertText(', and still here')
  await writer.keyboard.press('Enter')
  await shows(edited, 'not saved yet, and still here')
  await eventually(async () =>
    assert.equal(await viewer.value('AD', 'name_ja'), 'not saved yet, and still here'),
  )
  gate.open()
  await run
  for (const page of readers) await page.getByRole('group', GOES_ON).waitFor({ state: 'detached' })
})
