import { InvalidArgumentError } from 'commander'
import { allowedHost } from '../../sheet/calls/used-resources.ts'
import { checkActor } from '../../sheet/resolve-actor.ts'

/** Returns a parser for whole numbers of a range; the result is multiplied by `unit`. Throws InvalidArgumentError. */
export function integerBetween(least: number, most: number, unit = 1): (text: string) => number {
  return (text) => {
    const value = /^[0-9]+$/.test(text) ? Number(text) : NaN
    if (!(value >= least && value <= most)) {
      throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`)
    }
    return value * unit
  }
}

/** Returns a parser for seconds of a range, fractions allowed, as whole milliseconds. Throws InvalidArgumentError. */
export function secondsBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : NaN
    if (!(value >= least && value <= most)) {
      throw new InvalidArgumentError(`Give seconds from ${least} to ${most}.`)
    }
    return Math.round(value * 1000)
  }
}

/**
 * Parses an address to listen on; an empty one, which would mean every address, is refused. Throws
 * InvalidArgumentError.
 */
export function parseAddress(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('Give an address of this machine.')
  return text
}

/** Parses an actor (D39). Throws InvalidArgumentError. */
export function parseActor(text: string): string {
  const fault = checkActor(text)
  if (fault !== null) throw new InvalidArgumentError(`${fault}.`)
  return text
}

/** Parses a host name without scheme and port, since the port is not compared (D38). Throws InvalidArgumentError. */
export function parseHostName(text: string): string {
  if (!/^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i.test(text)) {
    throw new InvalidArgumentError('Give a host name alone, such as sheet.example.')
  }
  return text
}

/** Parses hosts that derivations may call, `host` or `host:port`, separated by commas. Throws InvalidArgumentError. */
export function parseAllowedNet(text: string): string[] {
  return text.split(',').map((item) =>
    allowedHost(item.trim(), (message) => {
      throw new InvalidArgumentError(`${message}.`)
    }),
  )
}

/** A host that is written without brackets, of at least two labels after a `*.`. */
const WILDCARD = /^\*\.(?=[^.]+\.)/

/**
 * Parses hosts whose images pages show, `host`, `host:port` or `*.host`, separated by commas. A policy of content cannot name an IPv6
 * address. Throws InvalidArgumentError.
 */
export function parseImageHosts(text: string): string[] {
  const fail = (message: string): never => {
    throw new InvalidArgumentError(`${message}.`)
  }
  return text.split(',').map((item) => {
    const written = item.trim()
    const [wildcard = ''] = WILDCARD.exec(written) ?? []
    const rest = written.slice(wildcard.length)
    if (rest.includes('*'))
      fail(
        `"${written}" is no host; write it out, or "*.example.com" for all hosts below one with a dot in it`,
      )
    const host = allowedHost(rest, fail)
    if (host.startsWith('[')) fail(`"${written}" is an IPv6 address, which the policy of pages cannot name`)
    if (wildcard !== '' && /^[0-9.]+(:|$)/.test(host))
      fail(`"${written}" is an address, which has no hosts below it`)
    return wildcard + host
  })
}

/** Parses an amount of dollars. Throws InvalidArgumentError. */
export function parseDollars(text: string): number {
  const value = /^\$?[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text.replace('$', '')) : NaN
  if (!Number.isFinite(value)) throw new InvalidArgumentError('Give a number of dollars, such as 2.50.')
  return value
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
}

/** Parses a size, as a whole number of bytes. Throws InvalidArgumentError. */
export function parseSize(text: string): number {
  const [, number, unit = ''] = /^([0-9]+(?:\.[0-9]+)?) ?([a-z]*)$/i.exec(text) ?? []
  const bytes = Number(number) * (SIZE_UNITS[unit.toUpperCase()] ?? NaN)
  if (!Number.isSafeInteger(Math.round(bytes))) {
    throw new InvalidArgumentError('Give a size, such as 100MB, 1.5GiB or a number of bytes.')
  }
  return Math.round(bytes)
}

const AGE_UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Parses a length of time, as milliseconds. Throws InvalidArgumentError. */
export function parseAge(text: string): number {
  const [, number, unit = ''] = /^([0-9]+(?:\.[0-9]+)?)([smhdw])$/.exec(text) ?? []
  const age = Number(number) * (AGE_UNITS[unit] ?? NaN) * 1000
  if (!(age <= 1e15)) throw new InvalidArgumentError('Give a length of time, such as 30d, 12h or 2w.')
  return Math.round(age)
}

/** Adds `field=number` to the numbers of values that may be lost, by field. Throws InvalidArgumentError. */
export function addConfirmed(
  text: string,
  earlier: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const [, field, count] = /^([A-Za-z_]\w*)=(\d{1,15})$/.exec(text) ?? []
  if (field === undefined) throw new InvalidArgumentError('write it as field=number, such as size=3.')
  return new Map([...earlier, [field, Number(count)]])
}
