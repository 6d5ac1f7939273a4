import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSourcePath } from './source-path.ts'

test('a source is a table inside the sheet or a script in scripts/, under a name that no other file of a sheet has', () => {
  for (const path of [
    'a.csv',
    'refs/Länder 2026.xlsx',
    'a/b/c.parquet',
    'REFS/A.CSV',
    'refs/records.jsonl',
    'scripts/a.py',
    'scripts/a.sh',
    'scripts/a.mjs',
    'scripts/a.csv',
  ]) {
    assert.equal(isSourcePath(path), true, path)
  }
  for (const path of [
    '',
    'a',
    '.csv',
    '/etc/a.csv',
    '../a.csv',
    'refs/../../a.csv',
    'refs/./a.csv',
    'refs//a.csv',
    'refs\\a.csv',
    '.git/a.json',
    'refs/.a.csv',
    'contract.yaml',
    'a.py',
    'refs/a.sh',
    'scripts/more/a.py',
    'scripts/.a.py',
    'scripts/a.exe',
    'records.jsonl',
    'Provenance.JSONL',
    'colophon.json',
    'a\u0000.csv',
    `${'a'.repeat(260)}.csv`,
  ]) {
    assert.equal(isSourcePath(path), false, path)
  }
})
