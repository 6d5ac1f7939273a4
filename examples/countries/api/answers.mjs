/**
 * The responses of the API, from the ICU data of Node.js (`Intl`) alone. Each function returns the JSON value of one
 * endpoint, or throws an {@link ApiError}.
 */

/** A response with a status other than 200. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/** @param {string} code an ISO 4217 code */
export function currency(code) {
  const name = displayName('currency', 'en', code)
  if (name === undefined) throw new ApiError(404, `no currency "${code}"`)
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
    currencyDisplay: 'narrowSymbol',
  })
  const symbol = format.formatToParts(0).find((part) => part.type === 'currency')?.value
  return { code, name, symbol, digits: format.resolvedOptions().maximumFractionDigits }
}

/**
 * @param {string} code an ISO 3166-1 alpha-2 code
 * @param {string | null} languages comma-separated BCP 47 tags
 */
export function countryNames(code, languages) {
  if (!languages) throw new ApiError(400, 'say which languages: ?languages=de,fr')
  const names = languages.split(',').map((language) => [language, regionName(language, code)])
  return { code, names: Object.fromEntries(names) }
}

/** @param {string} code an ISO 3166-1 alpha-2 code */
export function timeZones(code) {
  regionName('en', code)
  const zones = new Intl.Locale(`und-${code}`).getTimeZones() ?? []
  if (zones.length === 0) throw new ApiError(404, `no time zone is in use in "${code}"`)
  return { code, time_zones: zones }
}

/** @param {string} code an ISO 3166-1 alpha-2 code */
export function week(code) {
  regionName('en', code)
  const { firstDay, weekend } = new Intl.Locale(`und-${code}`).getWeekInfo()
  return { code, first_day: weekday(firstDay), weekend: weekend.map(weekday) }
}

/** @param {number} number 1 is Monday, as in ISO 8601 */
function weekday(number) {
  const day = new Date(Date.UTC(2024, 0, number)) // the first of that January was a Monday
  return new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(day)
}

/** The distinct offsets of the zones at one instant, west to east. @param {any} body */
export function utcOffsets(body) {
  const at = new Date(body.at)
  if (!Array.isArray(body.time_zones) || Number.isNaN(at.valueOf())) {
    throw new ApiError(400, 'send {"time_zones": ["Europe/Zurich"], "at": "2026-01-01T12:00:00Z"}')
  }
  const offsets = body.time_zones.map((/** @type {string} */ zone) => utcOffset(zone, at))
  return { utc_offsets: [...new Set(offsets)].toSorted((a, b) => minutes(a) - minutes(b)) }
}

/** A number as it is written in the locale's country. @param {any} body */
export function formatNumber(body) {
  if (typeof body.number !== 'number') throw new ApiError(422, `"number" is ${JSON.stringify(body.number)}`)
  const { language, region } = validLocale(body.locale).maximize()
  const locale = [language, region].join('-') // with the script, ICU would not find the country's own habits
  return { locale, text: new Intl.NumberFormat(locale).format(body.number) }
}

/**
 * @param {'currency' | 'region'} type
 * @param {string} language
 * @param {string} code
 */
function displayName(type, language, code) {
  const names = new Intl.DisplayNames([validLocale(language)], { type, fallback: 'none' })
  try {
    return names.of(code)
  } catch (error) {
    if (error instanceof RangeError) return undefined // not even shaped like a code
    throw error
  }
}

/**
 * @param {string} language
 * @param {string} code
 */
function regionName(language, code) {
  const name = /^[A-Z]{2}$/.test(code) ? displayName('region', language, code) : undefined
  if (name === undefined) throw new ApiError(404, `no country "${code}"`)
  return name
}

/** @param {unknown} tag */
function validLocale(tag) {
  try {
    return new Intl.Locale(String(tag))
  } catch {
    throw new ApiError(400, `${JSON.stringify(tag)} is no language tag`)
  }
}

/**
 * @param {string} zone
 * @param {Date} at
 */
function utcOffset(zone, at) {
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
    const name = format.formatToParts(at).find((part) => part.type === 'timeZoneName')?.value ?? ''
    return name.slice('GMT'.length) || '+00:00'
  } catch {
    throw new ApiError(400, `no time zone ${JSON.stringify(zone)}`)
  }
}

/** @param {string} offset such as `-03:30` */
function minutes(offset) {
  const [hours, rest] = offset.slice(1).split(':')
  return (offset.startsWith('-') ? -1 : 1) * (Number(hours) * 60 + Number(rest))
}
