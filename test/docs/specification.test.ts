import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readPage } from '../support/markdown.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const RULE = /\b[DH][1-9]\d?\b/g
const FILES = ['{src,test,scripts,bench}/**/*.{ts,mjs}', 'web/src/**/*.{ts,tsx,css}', 'docs/**/*.md', '*.md']

const rules = [...readPage('docs/specification.md').matchAll(/^### ([DH]\d+)$/gm)].map(([, rule]) => rule!)

test('every rule that a file names by its number is in the specification', () => {
  const numbered = (letter: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`)
  assert.deepEqual(rules, [...numbered('H', 7), ...numbered('D', 41)])
  const unknown = FILES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).flatMap((file) =>
    (readFileSync(join(ROOT, file), 'utf8').match(RULE) ?? [])
      .filter((rule) => !rules.includes(rule))
      .map((rule) => `${file}: ${rule}`),
  )
  assert.deepEqual(unknown, [])
})

test('every rule is named by a test', () => {
  const names = globSync('{src,test}/**/*test{s,}.ts', { cwd: ROOT }).flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8').match(/(?<=(?:test\(|name:)\s*['"`])[^'"`\n]+/g),
  )
  const proven = new Set(names.flatMap((name) => name?.match(RULE) ?? []))
  assert.deepEqual(
    rules.filter((rule) => !proven.has(rule)),
    [],
  )
})
