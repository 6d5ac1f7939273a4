import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith } from '../support/contract-with.ts'
import { formulaDialect } from '../../src/sheet/definition/formula-dialect.ts'
import { createKinds } from '../../src/derivation/kinds.ts'
import { renameInDerivation } from '../../src/derivation/rename-in-derivation.ts'
import { parseStub } from '../../src/sheet/transports.ts'

const CONTRACT = contractWith(
  '{name: city, logicalType: string}',
  '{name: country, logicalType: string}',
  '{name: temp, logicalType: number}',
)

async function renamed(text: string, from = 'city', to = 'town'): Promise<string> {
  const kinds = createKinds({
    transport: parseStub('{"responses": {}}'),
    formulas: await formulaDialect('sqlite'),
  })
  return renameInDerivation({ file: 'derivations/a.yaml', text }, { from, to, contract: CONTRACT }, kinds)
    .text
}

test('a name is edited in lists, placeholders and keys, and not in other texts', async () => {
  const text = `# city: of the customer
targets: [temp, country] # not the city
inputs:
  - city # first
kind: http
method: POST
url: https://city.example/{{ city }}/{{city}}?city=1
headers:
  X-City: "{{ city }} city"
body_template: |
  {"city": {{ city }}, "q": "in {{ city }}"}
response_schema:
  temp: city.temp
  country: city
`
  const expected = text
    .replace('- city #', '- town #')
    .replaceAll('{{ city }}', '{{ town }}')
    .replace('{{city}}', '{{town}}')
  assert.equal(await renamed(text), expected)
  assert.equal(
    await renamed(text, 'country', 'land'),
    text.replace('[temp, country]', '[temp, land]').replace('  country: city', '  land: city'),
  )
})

test('a column is edited in a formula as the engine finds it, and in the steps of a fallback', async () => {
  const text = `targets: [country]
kind: first
steps:
  - kind: sql
    # the city, in capitals
    expression: >-
      upper(CITY)
      || 'city' || "city"
    accept: length(city) > 1 AND country <> 'city'
  - kind: http
    url: https://a.example/{{ city }}
    response_path: city
`
  const expected = text
    .replace('upper(CITY)', 'upper(town)')
    .replace('|| "city"', '|| "town"')
    .replace('length(city)', 'length(town)')
    .replace('{{ city }}', '{{ town }}')
  assert.equal(await renamed(text), expected)
})

test('a file that does not name the field stays as it is', async () => {
  const text = 'targets: [country]\nkind: sql\nexpression: "lower(temp) /* city */"\n'
  assert.equal(await renamed(text), text)
})

test('a query is edited where it names the field, and one that cannot be edited is refused with its line', async () => {
  const text =
    'targets: [country]\ninputs: [city]\nkind: sql\nexpression: |\n  SELECT max(country) FROM records WHERE temp > ? AND city = :city\n'
  assert.equal(await renamed(text), text.replace('[city]', '[town]').replace('city = :city', 'town = :town'))
  await assert.rejects(
    () => renamed(text, 'temp', 'country'),
    /derivations\/a\.yaml:4: temp cannot be renamed here: the query has the name country already; edit it by hand/,
  )
})
