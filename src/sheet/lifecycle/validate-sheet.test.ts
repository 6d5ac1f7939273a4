import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { appendFile, copyFile, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { OFFERS, writeSheet } from '../../../test/support/sheet-fixture.ts'
import { openSheet } from '../open-sheet.ts'
import { validateSheet } from './validate-sheet.ts'

/** A sheet that has been opened, so that it has a store and a log. */
async function storedSheet(t: TestContext): Promise<string> {
  const directory = await writeSheet(t)
  await (await openSheet(directory)).close()
  return directory
}

async function faultsOf(directory: string): Promise<string[]> {
  const faults: string[] = []
  for await (const { file, line, message } of validateSheet(directory, { records: false })) {
    faults.push([file, line, message].filter((part) => part !== null).join(' '))
  }
  return faults
}

/** The message of every operation on the sheet. */
async function openingMessage(directory: string): Promise<string> {
  const sheet = await openSheet(directory)
  try {
    await sheet.current()
    return assert.fail('it was opened')
  } catch (error) {
    return (error as Error).message
  } finally {
    await sheet.close()
  }
}

async function contents(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !/-(wal|shm)$/.test(entry.name))
  const texts = files.map(async ({ parentPath, name }) => {
    const bytes = await readFile(join(parentPath, name))
    return `${name} ${createHash('sha256').update(bytes).digest('hex')}`
  })
  return (await Promise.all(texts)).toSorted()
}

test('an original name of two fields is reported with its line', async (t) => {
  const directory = await storedSheet(t)
  await editContract(
    directory,
    /name: title,([^]*?)name: price,/,
    'name: title, businessName: Amount,$1name: price, physicalName: Amount,',
  )
  const [fault = '', ...more] = await faultsOf(directory)
  assert.match(
    fault,
    /^contract\.yaml \d+ the fields "title", "price" have the same original name "Amount", so that files with such a column are refused; change all but one$/,
  )
  assert.deepEqual(more, [])
})

const CASES: Readonly<Record<string, { change: (directory: string) => Promise<unknown>; says: RegExp }>> = {
  'a type that stored records do not have': {
    change: (directory) =>
      editContract(directory, 'name: title, logicalType: string', 'name: title, logicalType: integer'),
    says: /title/,
  },
  'a field that was removed with its values': {
    change: (directory) => editContract(directory, /\n *- \{name: title,[^\n]*/, ''),
    says: /title/,
  },
  'the log of another sheet': {
    change: async (directory) => {
      const log = join(directory, 'provenance.jsonl')
      await writeFile(log, (await readFile(log, 'utf8')).replace('"seq":1', '"seq": 1'))
    },
    says: /provenance\.jsonl 1 the line is not the one that the store has/,
  },
  'a journal that somebody planted': {
    change: (directory) => copyFile(join(directory, 'contract.yaml'), join(directory, 'sheet.db-journal')),
    says: /sheet\.db-journal/,
  },
  'a store that is none': {
    change: (directory) => writeFile(join(directory, 'sheet.db'), 'garbage'),
    says: /sheet\.db/,
  },
  'records that cannot be imported, where there is no store yet': {
    change: async (directory) => {
      for (const name of ['sheet.db', 'provenance.jsonl']) await rm(join(directory, name))
      await appendFile(join(directory, 'records.jsonl'), '\n{"id":7}\n')
    },
    says: /records\.jsonl \d+ .*7 is not a string|field "id"/,
  },
}

for (const [what, { change, says }] of Object.entries(CASES)) {
  test(`validate reports the errors of opening, and changes nothing: ${what}`, async (t) => {
    const directory = await storedSheet(t)
    assert.deepEqual(await faultsOf(directory), [])
    await change(directory)
    const before = await contents(directory)
    const [fault = '', ...others] = await faultsOf(directory)
    assert.match(fault, says)
    assert.deepEqual(others, [])
    assert.deepEqual(await contents(directory), before)
    const told = await openingMessage(directory)
    assert.equal(fault.replaceAll(/[: ,]+/g, ' '), told.replaceAll(/[: ,]+/g, ' '))
  })
}

test('validate accepts a change that the stored records allow, without applying it', async (t) => {
  const directory = await storedSheet(t)
  await editContract(
    directory,
    'name: title, logicalType: string',
    'name: title, description: New, logicalType: string',
  )
  const before = await contents(directory)
  assert.deepEqual(await faultsOf(directory), [])
  assert.deepEqual(await contents(directory), before)
})

async function editContract(directory: string, from: string | RegExp, to: string): Promise<void> {
  const path = join(directory, 'contract.yaml')
  const text = await readFile(path, 'utf8')
  assert.equal(text, OFFERS.contract)
  assert.notEqual(text.replace(from, to), text)
  await writeFile(path, text.replace(from, to))
}
