import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkStoreFiles } from './check-store-files.ts'

const root = mkdtempSync(join(tmpdir(), 'colophon-store-files-'))
after(() => rmSync(root, { recursive: true }))
const elsewhere = join(root, 'elsewhere')
writeFileSync(elsewhere, 'secret')

const FOLLOWED = ['records.jsonl', 'provenance.jsonl', 'sheet.db']
const OWN = ['sheet.db-wal', 'sheet.db-shm', 'sheet.db-lock', 'sheet.db-lock-journal']

const PLANTS: readonly (readonly [what: string, plant: (path: string) => void, message: RegExp])[] = [
  ['a link out of the sheet', (path) => symlinkSync(elsewhere, path), /is a symbolic link out of the sheet/],
  ['a link to a device', (path) => symlinkSync('/dev/zero', path), /is a symbolic link out of the sheet/],
  [
    'a link to nothing',
    (path) => symlinkSync(join(root, 'nothing'), path),
    /is a symbolic link that leads nowhere/,
  ],
  ['a link to itself', (path) => symlinkSync(path, path), /cannot be read \(ELOOP\)/],
  ['a pipe', (path) => void execFileSync('mkfifo', [path]), /is a pipe/],
  ['a directory', (path) => mkdirSync(path), /is a directory/],
]

function sheetWith(name: string, plant: (path: string) => void): string {
  const directory = mkdtempSync(join(root, 'sheet-'))
  plant(join(directory, name))
  return directory
}

for (const [what, plant, message] of PLANTS) {
  test(`${what} is refused in the place of each file of a store`, () => {
    for (const name of [...FOLLOWED, ...OWN]) {
      const directory = sheetWith(name, plant)
      assert.throws(() => checkStoreFiles(directory), new RegExp(`${name} ${message.source}`), name)
    }
  })
}

test('regular files are allowed, and links within the sheet for those that the store follows', () => {
  for (const name of [...FOLLOWED, ...OWN])
    checkStoreFiles(sheetWith(name, (path) => writeFileSync(path, '')))
  const within = (path: string): void => {
    writeFileSync(`${path}.target`, '')
    symlinkSync(`${path}.target`, path)
  }
  for (const name of FOLLOWED) checkStoreFiles(sheetWith(name, within))
  for (const name of OWN) {
    assert.throws(() => checkStoreFiles(sheetWith(name, within)), /is a symbolic link; delete it/, name)
  }
})
