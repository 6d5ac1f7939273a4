import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { deleteRecords } from '../../src/sheet/writes/delete-records.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { openSheet, type SheetOptions } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { contractText } from './contract-with.ts'
import { onEnd } from './on-end.ts'
import { writeSheet } from './sheet-fixture.ts'

/** A text in every table of the store but in no record: plain, in hex, and in base64 at each of its three offsets. */
const CANARY = /canary|63616e617279|Y2FuYXJ5|NhbmFye|jYW5hcn/i

/** Matches the parts of a message that must not come from the service: internals of the store, a stack, a memory address. */
const INSIDES =
  /\$(?:data|seq|version|sheet|target|cell|todo|failure|cache|provenance|deleted|import|unique|run|derivation)|\n\s+at |0x[0-9a-f]{6,}/gi

/** A sheet with a text in every table except `records` that no response may contain. */
export interface CanarySheet {
  readonly sheet: Sheet
  /** The path of the store. */
  readonly path: string
  /** Returns the SHA-256 over the schema and every row of every table, which changes with any write. */
  contentHash(): string
  /** Fails if a text reveals contents of tables other than `records`. */
  assertNoCanary(text: string, sent: string): void
  /** Fails if a message reveals anything of the machine, the program or other tables that its sender did not send. */
  assertTellsNothing(message: string, sent: string): void
}

const FIELDS = [
  '{name: n, logicalType: integer}',
  '{name: price, logicalType: number}',
  '{name: done, logicalType: boolean}',
  '{name: title, logicalType: string, unique: true}',
  '{name: day, logicalType: date}',
  '{name: tags, logicalType: array}',
  '{name: details, logicalType: object}',
  '{name: verdict, logicalType: string}',
]

const RECORDS = Array.from({ length: 10 }, (_, index) => ({
  id: `r${index}`,
  n: index % 4 === 3 ? null : index,
  price: index % 3 === 2 ? null : index * 1.5,
  done: index % 5 === 4 ? null : index % 2 === 0,
  title: `t${index}`,
  day: `2024-01-0${1 + (index % 9)}`,
  tags: [`a${index % 2}`, index],
  details: { k: index, l: { m: [index] } },
}))

/** Opens the sheet, which is closed and removed when the test ends. Nothing more is written to it. */
export async function openCanarySheet(
  t: TestContext,
  options: Partial<SheetOptions> = {},
): Promise<CanarySheet> {
  const directory = await writeSheet(t, {
    contract: `# canary of the contract\n${contractText(FIELDS)}`,
    records: RECORDS,
    derivations: {
      'verdict.yaml':
        'targets: [verdict]\ninputs: [title]\nkind: http\nurl: https://canary.example/{{ title }}\nresponse_path: verdict\n',
    },
  })
  await fillTables(directory)
  const sheet = await openSheet(directory, options)
  onEnd(t, () => sheet.close())
  const path = join(directory, 'sheet.db')
  const machine = [
    directory,
    basename(directory),
    'sheet.db',
    'provenance.jsonl',
    'node_modules',
    'node:',
    'sqlite3.c',
  ]
    .concat(import.meta.dirname, process.cwd(), process.execPath, hostname(), '/tmp', '/home', 'src/', '.ts:')
    .concat(userInfo().homedir, ` ${userInfo().username}`)
  const assertNoCanary = (text: string, sent: string): void => {
    assert.doesNotMatch(text, CANARY, `${sent.slice(0, 500)} told of another table`)
  }
  return {
    sheet,
    path,
    contentHash: () => contentHash(path),
    assertNoCanary,
    assertTellsNothing(message, sent) {
      assertNoCanary(message, sent)
      for (const word of [...machine, ...(message.match(INSIDES) ?? [])]) {
        if (sent.toLowerCase().includes(word.toLowerCase()) || word.length < 3) continue
        assert.equal(message.includes(word), false, `${message} tells ${word}: ${sent.slice(0, 500)}`)
      }
    },
  }
}

/** Adds runs, failures, cached results and deletions, whose text is in no record at the end. */
async function fillTables(directory: string): Promise<void> {
  const responses = Object.fromEntries(
    RECORDS.slice(2).map(({ title }) => [`GET https://canary.example/${title}`, { verdict: 'good' }]),
  )
  const gone = { 'GET https://canary.example/canary-title': { verdict: 'canary-verdict' } }
  const stub = parseStub(JSON.stringify({ responses: { ...responses, ...gone } }))
  const sheet = await openSheet(directory, { transport: stub, defaultActor: 'agent:canary' })
  await upsertRecords(sheet, {
    records: [{ id: 'canary-id', n: 99, title: 'canary-title' }],
    actor: 'canary-actor',
  })
  await materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'agent:canary-run' })
  await deleteRecords(sheet, { ids: ['canary-id'], actor: 'user:canary' })
  // Closed, so that the store records the state of its log before the hash is computed.
  await sheet.close()
}

/** Reads a whole database. */
function contentHash(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const schema = database.prepare('SELECT * FROM sqlite_schema ORDER BY name').all()
    const hash = createHash('sha256').update(JSON.stringify(schema))
    for (const { name, type } of schema) {
      if (type !== 'table') continue
      const rows = database.prepare(`SELECT * FROM "${String(name)}"`)
      rows.setReadBigInts(true)
      const shown = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)
      for (const row of rows.iterate()) hash.update(JSON.stringify(row, shown))
    }
    return hash.digest('hex')
  } finally {
    database.close()
  }
}
