import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

/** The most product files that one level of a folder holds. */
const MAX_FILES = 25

/** Product files of `src` and `web/src` by folder, as paths from the root. */
const folders = Map.groupBy(
  ['src', 'web/src'].flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
      .map((file) => join(room, file))
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|\/(suite|testing)\//.test(file)),
  ),
  (file) => dirname(file),
)

test('no folder has too many product files', () => {
  const full = [...folders].filter(([, files]) => files.length > MAX_FILES)
  assert.deepEqual(
    full.map(([folder, files]) => `${folder}: ${files.length}`),
    [],
  )
})

test('folders import each other one way, including types', () => {
  const imports = new Map([...folders].map(([folder, files]) => [folder, importedFolders(folder, files)]))
  const finished = new Set<string>()
  const visit = (folder: string, path: readonly string[]): void => {
    const start = path.indexOf(folder)
    assert.equal(start, -1, `a cycle of folders: ${[...path.slice(start), folder].join(' -> ')}`)
    if (finished.has(folder)) return
    for (const next of imports.get(folder) ?? []) visit(next, [...path, folder])
    finished.add(folder)
  }
  for (const folder of imports.keys()) visit(folder, [])
  assert.ok(finished.size > 100)
})

function importedFolders(folder: string, files: readonly string[]): Set<string> {
  const specifiers = files.flatMap((file) => [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+\.tsx?)'/g),
  ])
  const imported = specifiers.map(([, specifier = '']) => dirname(join(folder, specifier)))
  return new Set(imported.filter((other) => other !== folder && resolve(ROOT, other).startsWith(ROOT)))
}
