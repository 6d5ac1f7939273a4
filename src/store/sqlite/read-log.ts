import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isJsonObject, type JsonObject } from '../../contract/json/json.ts'
import { storePaths } from './definition/create-store.ts'

/** Returns the lines of a sheet's `provenance.jsonl`, for tests. Throws for an incomplete one. */
export function logOf(directory: string): JsonObject[] {
  const text = readFileSync(storePaths(directory).log, 'utf8')
  assert.ok(text === '' || text.endsWith('\n'), 'provenance.jsonl ends in the middle of a line')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const parsed: unknown = JSON.parse(line)
      assert.ok(isJsonObject(parsed))
      return parsed
    })
}
