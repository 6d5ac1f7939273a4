import type { TestContext } from 'node:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contractText } from './contract-with.ts'
import { startLocalApi, type LocalApi } from './local-api.ts'
import { answerLookups, lookup } from './run-fixture.ts'
import { writeSheet } from './sheet-fixture.ts'

/** A sheet for another process, and the API that its derivation of `b` from `a` calls. */
export interface LookupFiles {
  readonly sheet: string
  readonly api: LocalApi
}

/**
 * Writes a sheet of this many records, `r0` on, whose `b` is fetched by `a`; a call costs this many dollars. `editors` may write `b`, by
 * default nobody.
 */
export async function writeLookupSheet(
  t: TestContext,
  { records = 3, cost = 0, editors }: { records?: number; cost?: number; editors?: string } = {},
): Promise<LookupFiles> {
  const api = await startLocalApi(t)
  answerLookups(api)
  const sheet = await writeSheet(t, {
    contract: contractText([
      '{name: a, logicalType: string}',
      `{name: b, logicalType: string${editors === undefined ? '' : `, x-editable-by: [${editors}]`}}`,
      "{name: secret_note, logicalType: string, customProperties: [{property: editableBy, value: ['human:*']}]}",
    ]),
    records: Array.from({ length: records }, (_, index) => ({ id: `r${index}`, a: `v${index}` })),
    derivations: { 'b.yaml': JSON.stringify(lookup(api.url, 'b', 'a')) },
  })
  await writeFile(join(sheet, 'transport.yaml'), `hosts: {'*': {cost_per_call: ${cost}, concurrency: 2}}\n`)
  return { sheet, api }
}
