import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { GROUPS, LEFT_OUT } from './files.ts'

const TEST = join(import.meta.dirname, '..')

test('each test file about an open sheet runs on both engines, or has a reason not to', async () => {
  const listed = [...Object.values(GROUPS).flat(), ...Object.keys(LEFT_OUT)]
  const folders = new Set(listed.map((file) => file.split('/')[0] ?? ''))
  const found: string[] = []
  for (const folder of folders) {
    for (const name of await readdir(join(TEST, folder))) {
      if (name.endsWith('.test.ts')) found.push(`${folder}/${name}`)
    }
  }
  assert.deepEqual(listed.toSorted(), found.toSorted())
})
