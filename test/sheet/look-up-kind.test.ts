import { LookupKind } from '../../src/derivation/kinds/lookup/lookup-kind.ts'
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
