import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const MIB = 1 << 20

test('memory is released while a large file is read', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-lines-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const [path, program] = [join(directory, 'records.jsonl'), join(directory, 'read.ts')]
  writeFileSync(path, `${'x'.repeat(1023)}\n`.repeat((70 * MIB) / 1024))
  writeFileSync(
    program,
    `const { textLines } = await import(${JSON.stringify(new URL('./import-lines.ts', import.meta.url).href)})
     for (const _line of textLines(${JSON.stringify(path)}));`,
  )
  // V8 prints each collection, those that release memory with "reduce": at least two each time.
  const told = execFileSync(process.execPath, ['--trace-gc', program], { encoding: 'utf8' })
  const given = told.match(/Mark-Compact \(reduce\)/g) ?? []
  assert.ok(given.length >= 4, told)
})
