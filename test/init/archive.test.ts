import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { suite, test, type TestContext } from 'node:test'
import { ZipFile } from 'yazl'
import { exportArchive } from '../../src/sheet/transfer/export-archive.ts'
import { initSheet } from '../../src/sheet/lifecycle/init-sheet.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { allBytes, openUntilEnd, recordsOf, scratch } from '../support/init-files.ts'
import { OFFERS, RATES, writeSheet } from '../support/sheet-fixture.ts'
import { entriesOf } from '../../src/store/suite/support/test-sheet.ts'
import { onEnd } from '../support/on-end.ts'

const LIMIT = 1 << 30

/** A sheet with a fresh, a failed, an overridden and a missing cell, a deleted record, and the state of each. */
async function livelySheet(t: TestContext): Promise<{ directory: string; sheet: Sheet }> {
  const directory = await writeSheet(t)
  await writeFile(join(directory, 'transport.yaml'), 'hosts:\n  rates.example:\n    concurrency: 3\n')
  const sheet = await openSheet(directory, { transport: parseStub(RATES), defaultActor: 'human:me' })
  onEnd(t, () => sheet.close())
  await materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'human:me' })
  const write = (records: readonly object[]): Promise<unknown> =>
    upsertRecords(sheet, { records: [...records] as never }, { actor: 'human:me' })
  await write([{ id: 'z', title: 'Zest', currency: null }])
  await write([{ id: 'gone', title: 'Gone' }])
  await write([{ id: 'b', title: '=Bean\n"ü"' }])
  await deleteRecords(sheet, { ids: ['gone'], actor: 'human:me' })
  return { directory, sheet }
}

async function archiveOf(sheet: Sheet, root: string): Promise<{ path: string; name: string }> {
  const path = join(root, 'sheet.zip')
  await writeFile(path, await allBytes(exportArchive(sheet)))
  return { path, name: 'sheet.zip' }
}

async function everythingOf(sheet: Sheet): Promise<unknown> {
  const { store, contract } = await sheet.deriving()
  const records = await recordsOf(sheet)
  const ids = [...records.map(({ id }) => String(id)), 'gone']
  const fields = contract.fields.map(({ name }) => name)
  const cells = ids.flatMap((id) => fields.map((field) => entriesOf(store, id, field)))
  const [keys, seq] = [await store.recordKeys(ids), (await store.history()).last]
  return {
    records,
    contract: contract.text,
    status: await store.status(),
    provenance: await Promise.all(cells),
    past: await Promise.all(
      Array.from({ length: seq }, async (_, index) =>
        String((await store.pageAsOf({ fields, limit: 100, after: null, seq: index + 1 })).records),
      ),
    ),
    runs: await store.runs({ before: null, limit: 10 }),
    failures: await Promise.all([...keys.values()].map((key) => store.cellFailure(key, 'rate'))),
    states: await store.work({
      targets: ['rate'],
      inputs: ['currency'],
      force: true,
      state: null,
      after: null,
      limit: 100,
      only: null,
    }),
  }
}

suite('the archive of a sheet', () => {
  test('D34: opens elsewhere with the same records, order, states, history, runs and earlier states', async (t) => {
    const root = await scratch(t)
    const { sheet, directory } = await livelySheet(t)
    const file = await archiveOf(sheet, root)
    const report = await initSheet(join(root, 'copy'), { kind: 'archive', file, maxBytes: LIMIT })
    assert.deepEqual(report, { fields: null, records: 4, notes: [] })
    const copy = await openUntilEnd(t, join(root, 'copy'))
    assert.deepEqual(await everythingOf(copy), await everythingOf(sheet))
    for (const name of ['contract.yaml', 'transport.yaml', 'derivations/rate.yaml', 'provenance.jsonl']) {
      assert.equal(
        await readFile(join(root, 'copy', name), 'utf8'),
        await readFile(join(directory, name), 'utf8'),
        name,
      )
    }
  })

  test('does not recompute computed cells, nor failed ones', async (t) => {
    const root = await scratch(t)
    const { sheet } = await livelySheet(t)
    const file = await archiveOf(sheet, root)
    await initSheet(join(root, 'copy'), { kind: 'archive', file, maxBytes: LIMIT })
    const copy = await openSheet(join(root, 'copy'), { transport: parseStub('{"responses": {}}') })
    onEnd(t, () => copy.close())
    const result = await materialize(copy, {
      targets: null,
      recordIds: null,
      force: false,
      actor: 'human:me',
    })
    assert.deepEqual(
      result.failures.map(({ recordId }) => recordId),
      ['c'],
    )
    assert.equal(result.materialized, 0)
  })

  test('an archive of a copy has the same records and log', async (t) => {
    const root = await scratch(t)
    const { sheet } = await livelySheet(t)
    const file = await archiveOf(sheet, root)
    await initSheet(join(root, 'copy'), { kind: 'archive', file, maxBytes: LIMIT })
    const copy = await openUntilEnd(t, join(root, 'copy'))
    await mkdir(join(root, 'again'))
    const second = await archiveOf(copy, join(root, 'again'))
    await initSheet(join(root, 'third'), { kind: 'archive', file: second, maxBytes: LIMIT })
    for (const name of ['records.jsonl', 'provenance.jsonl']) {
      assert.ok(
        (await readFile(join(root, 'copy', name))).equals(await readFile(join(root, 'third', name))),
        name,
      )
    }
  })

  test('leaves nothing in the directory for temporary files', async (t) => {
    const root = await scratch(t)
    const { sheet } = await livelySheet(t)
    const before = process.env['TMPDIR']
    process.env['TMPDIR'] = root
    try {
      for await (const _piece of exportArchive(sheet)) break
      await allBytes(exportArchive(sheet))
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
    }
    assert.deepEqual(readdirSync(root), [])
  })

  test('is not made from a sheet with an invalid derivation', async (t) => {
    const directory = await writeSheet(t, { derivations: { 'rate.yaml': 'targets: [nothing]\n' } })
    const sheet = await openUntilEnd(t, directory)
    await assert.rejects(allBytes(exportArchive(sheet)), { type: 'ContractError' })
  })
})

interface Planted {
  readonly name: string
  readonly content: string | Buffer
  readonly mode?: number
  /** Its entry in the manifest; null for none. */
  readonly described?: { bytes?: number; sha256?: string } | null
}

/** An archive with these files, as somebody may have made it who wants no good. */
async function plant(root: string, files: readonly Planted[], manifest: object = {}): Promise<string> {
  const described = files.flatMap(({ name, content, described: more = {} }) =>
    more === null
      ? []
      : [
          {
            path: name,
            bytes: Buffer.byteLength(content),
            sha256: createHash('sha256').update(content).digest('hex'),
            modified: 0,
            ...more,
          },
        ],
  )
  const zip = new ZipFile()
  const text = {
    format: 'colophon-sheet',
    version: 1,
    records: 0,
    last_seq: 0,
    files: described,
    ...manifest,
  }
  zip.addBuffer(Buffer.from(JSON.stringify(text)), 'colophon.json')
  for (const { name, content, mode = 0o100644 } of files) {
    // The library itself refuses names that lead elsewhere: written with as many harmless letters, and put in below.
    zip.addBuffer(Buffer.from(content), harmless(name), { mode })
  }
  zip.end()
  let bytes = await allBytes(Readable.from(zip.outputStream) as AsyncIterable<Uint8Array>)
  for (const { name } of files) bytes = replaceAll(bytes, harmless(name), name)
  const path = join(root, 'planted.zip')
  await writeFile(path, bytes)
  return path
}

function harmless(name: string): string {
  return name === OFFERS_CONTRACT.name ? name : `X${'x'.repeat(Math.max(0, Buffer.byteLength(name) - 1))}`
}

function replaceAll(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll(from, Buffer.from(to).toString('latin1')), 'latin1')
}

const OFFERS_CONTRACT = {
  name: 'contract.yaml',
  content: OFFERS.contract.replace(/^.*rate, logicalType.*\n/m, ''),
}

suite('an archive from an untrusted source', () => {
  const refused = async (
    t: TestContext,
    files: readonly Planted[],
    { message, manifest, maxBytes = LIMIT }: { message: RegExp; manifest?: object; maxBytes?: number },
  ): Promise<void> => {
    const root = await scratch(t)
    const path = await plant(root, files, manifest)
    const before = readdirSync(root)
    await assert.rejects(
      initSheet(join(root, 'a', 'b', 'sheet'), {
        kind: 'archive',
        file: { path, name: 'planted.zip' },
        maxBytes,
      }),
      (error: Error & { type?: string }) => {
        assert.match(error.message, message)
        assert.ok(['ValidationError', 'RecordsError', 'ContractError'].includes(error.type ?? ''), error.type)
        assert.ok(!error.message.includes(root), 'tells a path of the machine')
        return true
      },
    )
    assert.deepEqual(readdirSync(root), before, 'something is left behind')
  }

  test('with valid contents becomes a sheet', async (t) => {
    const root = await scratch(t)
    const path = await plant(root, [
      OFFERS_CONTRACT,
      { name: 'records.jsonl', content: '{"id":"a","title":"A"}\n' },
    ])
    const file = { path, name: 'planted.zip' }
    const { records } = await initSheet(join(root, 'sheet'), { kind: 'archive', file, maxBytes: LIMIT })
    assert.equal(records, 1)
  })

  test('has no file outside of the sheet', async (t) => {
    for (const name of [
      '../evil.yaml',
      '/tmp/evil.yaml',
      'derivations/../../evil.yaml',
      'derivations/..\\evil.yaml',
      'derivations/a/b.yaml',
      'derivations/.yaml',
      'derivations/x\u0001.yaml',
      'C:\\evil.yaml',
      'sheet.db-journal',
      'sheet.db-wal',
      'sheet.db-lock',
      'node_modules/x.js',
      '.gitignore',
    ]) {
      await refused(t, [OFFERS_CONTRACT, { name, content: 'x' }], {
        message: /does not belong in a sheet|is not a readable zip archive/,
      })
    }
  })

  test('has no links and no devices', async (t) => {
    for (const mode of [0o120777, 0o060644, 0o010644, 0o040755]) {
      await refused(t, [OFFERS_CONTRACT, { name: 'records.jsonl', content: '/etc/passwd', mode }], {
        message: /"records\.jsonl" is not a regular file/,
      })
    }
  })

  test('has each file once, ignoring the case of its letters', async (t) => {
    const derivation = { name: 'derivations/a.yaml', content: 'x' }
    await refused(t, [OFFERS_CONTRACT, derivation, { ...derivation, name: 'derivations/A.yaml' }], {
      message: /is in it twice/,
    })
  })

  test('matches its list', async (t) => {
    const records = { name: 'records.jsonl', content: '{"id":"a","title":"A"}\n' }
    const sha256 = 'f'.repeat(64)
    await refused(t, [OFFERS_CONTRACT, { ...records, described: { sha256 } }], {
      message: /differs from the manifest/,
    })
    await refused(t, [OFFERS_CONTRACT, { ...records, described: { bytes: 3 } }], {
      message: /is larger than the manifest states/,
    })
    await refused(t, [OFFERS_CONTRACT, { ...records, described: { bytes: 99 } }], {
      message: /differs from the manifest/,
    })
    await refused(t, [OFFERS_CONTRACT, { ...records, described: null }], {
      message: /is not in the manifest/,
    })
    await refused(t, [records], { message: /"contract\.yaml" is missing/ })
    await refused(t, [OFFERS_CONTRACT], {
      message: /of version 2; this program reads/,
      manifest: { version: 2 },
    })
    await refused(t, [OFFERS_CONTRACT], {
      message: /not that of a sheet's archive/,
      manifest: { format: 'x' },
    })
    await refused(t, [OFFERS_CONTRACT], { message: /is damaged/, manifest: { files: [7] } })
  })

  test('has a limit of size, counted after decompression', async (t) => {
    const bomb = { name: 'records.jsonl', content: Buffer.alloc(4 << 20, '\n') }
    await refused(t, [OFFERS_CONTRACT, bomb], {
      message: /needs 5 MiB, and the limit is 1 MiB/,
      maxBytes: 1 << 20,
    })
    const large = { name: 'transport.yaml', content: Buffer.alloc(2 << 20, '#') }
    await refused(t, [OFFERS_CONTRACT, large], { message: /"transport\.yaml" is larger than 1 MiB/ })
  })

  test('has a store only if this program created it', async (t) => {
    const store = { name: 'sheet.db', content: 'SQLite format 3\u0000 and the rest' }
    await refused(t, [OFFERS_CONTRACT, store], { message: /store/ })
  })

  test('has records that the contract allows, or none', async (t) => {
    const records = { name: 'records.jsonl', content: '{"id":"a","title":1}\n' }
    await refused(t, [OFFERS_CONTRACT, records], { message: /record 1: field "title"/ })
  })

  test('is a zip archive of a sheet', async (t) => {
    const root = await scratch(t)
    for (const [content, message] of [
      ['no zip', /is not a readable zip archive/],
      [Buffer.from('504b0506000000000000000000000000000000000000', 'hex'), /has no colophon\.json/],
    ] as const) {
      const path = join(root, 'x.zip')
      await writeFile(path, content)
      await assert.rejects(
        initSheet(join(root, 'sheet'), { kind: 'archive', file: { path, name: 'x.zip' }, maxBytes: LIMIT }),
        { type: 'ValidationError', message },
      )
    }
    await assert.rejects(
      initSheet(join(root, 'sheet'), {
        kind: 'archive',
        file: { path: join(root, 'none'), name: 'none' },
        maxBytes: 1,
      }),
      { type: 'SheetError', message: 'none: there is no such file' },
    )
    assert.ok(!existsSync(join(root, 'sheet')))
  })

  test('follows no link at the path of the new sheet', async (t) => {
    const root = await scratch(t)
    const path = await plant(root, [OFFERS_CONTRACT])
    await mkdir(join(root, 'sheet'))
    await symlink(join(root, 'elsewhere'), join(root, 'sheet', 'contract.yaml'))
    await assert.rejects(
      initSheet(join(root, 'sheet'), { kind: 'archive', file: { path, name: 'x.zip' }, maxBytes: LIMIT }),
      { type: 'SheetError', message: /has a file contract\.yaml already/ },
    )
    assert.ok(!existsSync(join(root, 'elsewhere')))
  })
})
