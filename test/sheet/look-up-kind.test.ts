import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOOKUP_PLACES, LookupKind } from '../../src/derivation/kinds/lookup/lookup-kind.ts'
import { testKind } from '../../src/derivation/kinds/kind-suite.ts'
import { readTable } from '../../src/sheet/definition/read-table.ts'
import { contractWith } from '../support/contract-with.ts'

testKind('import', async () => ({
  kind: new LookupKind(readTable),
  contract: contractWith('{name: site, logicalType: string}', '{name: staff, logicalType: integer}'),
  file: [
    'targets: [staff]',
    'inputs: [site]',
    'kind: import',
    'source: refs/companies.csv',
    'key_field: domain',
    'match: site',
    'value_field: employees',
    '',
  ].join('\n'),
  sources: { 'refs/companies.csv': 'domain,employees\na.example,12\nb.example,7\n' },
  good: { inputs: { site: 'a.example' }, values: { staff: 12 } },
  failing: { site: 'b.example' },
  blocked: { inputs: { site: null }, field: 'site' },
  close: () => Promise.resolve(),
}))

testKind('cross_sheet', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-other-'))
  await writeFile(
    join(directory, 'records.jsonl'),
    '{"domain":"a.example","employees":12}\n{"domain":"b.example","employees":7}\n',
  )
  const sheet = { directory, file: 'records.jsonl', retry: () => undefined } as const
  return {
    kind: new LookupKind(readTable, LOOKUP_PLACES.sheet),
    contract: contractWith('{name: site, logicalType: string}', '{name: staff, logicalType: integer}'),
    file: [
      'targets: [staff]',
      'inputs: [site]',
      'kind: cross_sheet',
      'source_sheet: ../companies',
      'key_field: domain',
      'match: site',
      'value_field: employees',
      '',
    ].join('\n'),
    sheets: { '../companies': { path: '../companies', bytes: null, problem: '', version: '1', sheet } },
    good: { inputs: { site: 'a.example' }, values: { staff: 12 } },
    failing: { site: 'b.example' },
    blocked: { inputs: { site: null }, field: 'site' },
    close: () => rm(directory, { recursive: true }),
  }
})
