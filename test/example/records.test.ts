import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'countries')

interface Country {
  readonly id: string
  readonly name: string
  readonly alpha3: string
  readonly numeric: string
  readonly capital: string | null
  readonly region: string
  readonly area: number | null
  readonly currency: string | null
  readonly landlocked: boolean
}

const countries = (await readFile(join(EXAMPLE, 'records.jsonl'), 'utf8'))
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Country)

test('the example has all 249 codes of ISO 3166-1, each once', () => {
  assert.equal(countries.length, 249)
  for (const key of ['id', 'alpha3', 'numeric', 'name'] as const) {
    assert.equal(new Set(countries.map((country) => country[key])).size, 249, key)
  }
})

/** From memory of the world, not of the source. */
const KNOWN = [
  'AQ ATA 010 Antarctica: no capital, Antarctic, no currency',
  'AU AUS 036 Australia: Canberra, Oceania, AUD',
  'BG BGR 100 Bulgaria: Sofia, Europe, EUR',
  'BR BRA 076 Brazil: Brasília, Americas, BRL',
  'CA CAN 124 Canada: Ottawa, Americas, CAD',
  'CH CHE 756 Switzerland: Bern, Europe, CHF, landlocked',
  'CN CHN 156 China: Beijing, Asia, CNY',
  'DE DEU 276 Germany: Berlin, Europe, EUR',
  'EG EGY 818 Egypt: Cairo, Africa, EGP',
  'ET ETH 231 Ethiopia: Addis Ababa, Africa, ETB, landlocked',
  'FM FSM 583 Micronesia: Palikir, Oceania, USD',
  'GB GBR 826 United Kingdom: London, Europe, GBP',
  'IN IND 356 India: New Delhi, Asia, INR',
  'JP JPN 392 Japan: Tokyo, Asia, JPY',
  'KH KHM 116 Cambodia: Phnom Penh, Asia, KHR',
  'MX MEX 484 Mexico: Mexico City, Americas, MXN',
  'NA NAM 516 Namibia: Windhoek, Africa, NAD',
  'NG NGA 566 Nigeria: Abuja, Africa, NGN',
  'PY PRY 600 Paraguay: Asunción, Americas, PYG, landlocked',
  'TR TUR 792 Türkiye: Ankara, Asia, TRY',
  'US USA 840 United States: Washington, D.C., Americas, USD',
  'ZA ZAF 710 South Africa: Pretoria, Africa, ZAR',
]

test('well-known countries have their codes, capitals and currencies', () => {
  const ids = new Set(KNOWN.map((line) => line.slice(0, 2)))
  assert.deepEqual(countries.filter(({ id }) => ids.has(id)).map(inWords), KNOWN)
})

test('44 of them have no coast', () => {
  assert.equal(countries.filter(({ landlocked }) => landlocked).length, 44)
})

test('currencies are ISO 4217 codes', () => {
  const known = new Set(Intl.supportedValuesOf('currency'))
  const codes = countries.flatMap(({ currency }) => currency ?? [])
  assert.deepEqual(
    codes.filter((code) => !known.has(code)),
    [],
  )
  assert.equal(new Set(codes).size, 153)
})

test('areas add up to the land of the Earth, 150 million square kilometres', () => {
  const total = countries.reduce((sum, { area }) => sum + (area ?? 0), 0)
  assert.ok(total > 148e6 && total < 152e6, String(total))
})

function inWords(country: Country): string {
  const { id, alpha3, numeric, name, capital, region, currency, landlocked } = country
  const coast = landlocked ? ', landlocked' : ''
  return `${id} ${alpha3} ${numeric} ${name}: ${capital ?? 'no capital'}, ${region}, ${currency ?? 'no currency'}${coast}`
}
