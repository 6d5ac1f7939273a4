/*
 * Writes examples/countries/records.jsonl from the npm package world-countries (ODbL-1.0). examples/countries/README.md
 * lists its changes, as the licence requires.
 *
 *   npm pack world-countries@5.1.0 && tar xf world-countries-5.1.0.tgz
 *   node scripts/make-countries.mjs package/countries.json > examples/countries/records.jsonl
 */
import { readFileSync } from 'node:fs'

/** Currencies where the source names several, none, or one that ISO 4217 has withdrawn since. */
const CURRENCIES = {
  BG: 'EUR',
  BN: 'BND',
  BS: 'BSD',
  BT: 'BTN',
  BV: 'NOK',
  CK: 'NZD',
  CU: 'CUP',
  CW: 'XCG',
  EH: 'MAD',
  FM: 'USD',
  FO: 'DKK',
  GG: 'GBP',
  HM: 'AUD',
  IM: 'GBP',
  JE: 'GBP',
  KH: 'KHR',
  KI: 'AUD',
  LS: 'LSL',
  NA: 'NAD',
  PA: 'PAB',
  PS: 'ILS',
  SH: 'SHP',
  SL: 'SLE',
  SX: 'XCG',
  SZ: 'SZL',
  TV: 'AUD',
  ZW: 'ZWG',
}

const CAPITALS = { HK: null, MN: 'Ulaanbaatar', PF: 'Papeete', SZ: 'Mbabane', US: 'Washington, D.C.' }

const LANGUAGES = {
  AT: ['German'],
  CH: ['German', 'French', 'Italian', 'Romansh'],
  MD: ['Romanian'],
}

const [, , source] = process.argv
if (source === undefined) throw new Error('say where countries.json of the package is')

/** @type {any[]} */
const countries = JSON.parse(readFileSync(source, 'utf8'))
const records = countries
  .filter((country) => country.status === 'officially-assigned')
  .map(toRecord)
  .toSorted((a, b) => (a.id < b.id ? -1 : 1))
for (const record of records) console.log(JSON.stringify(record))

/** @param {any} country */
function toRecord(country) {
  const code = country.cca2
  return {
    id: code,
    name: country.name.common,
    alpha3: country.cca3,
    numeric: country.ccn3,
    capital: corrected(CAPITALS, code, () => country.capital[0] ?? null),
    region: country.region,
    subregion: country.subregion || null,
    area: country.area < 0 ? null : country.area,
    currency: corrected(CURRENCIES, code, () => onlyCurrency(country)),
    languages: corrected(LANGUAGES, code, () => Object.values(country.languages)),
    landlocked: country.landlocked,
    independent: country.independent,
  }
}

/**
 * @param {Record<string, unknown>} corrections
 * @param {string} code
 * @param {() => unknown} fromSource
 */
function corrected(corrections, code, fromSource) {
  return Object.hasOwn(corrections, code) ? corrections[code] : fromSource()
}

/** @param {any} country */
function onlyCurrency(country) {
  const codes = Object.keys(country.currencies)
  if (codes.length > 1) throw new Error(`${country.cca2} has ${codes.join(', ')}: choose one in CURRENCIES`)
  return codes[0] ?? null
}
