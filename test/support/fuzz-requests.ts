import type { Random } from '../../src/store/suite/support/random.ts'
import { FIELDS, IDS, TEXTS, VALUES, SQLS, FILTERS, METHODS, HEADERS, HEADER_VALUES } from './fuzz-words.ts'

/** A request with correct framing, whatever its other errors: it has exactly one response. */
export interface FramedRequest {
  readonly method: string
  readonly bytes: Buffer
}

/** Makes requests to every route, from valid to hardly recognizable. */
export class FuzzRequests {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  framed(): FramedRequest {
    const random = this.#random
    const [usual, path, body] = this.#route()
    const target = this.#target(path)
    const chosen = random.chance(0.1) ? random.pick(METHODS) : usual
    // A stream would not end.
    const method = chosen === 'GET' && target.includes('/events') ? 'POST' : chosen
    const headers = ['Host: localhost', ...this.#headers()]
    const text = body === '' && random.chance(0.95) ? '' : this.#body(body)
    if (text === '') return { method, bytes: message(`${method} ${target}`, headers, '') }
    if (random.chance(0.9)) headers.push('Content-Type: application/json')
    if (random.chance(0.1)) {
      headers.push('Transfer-Encoding: chunked')
      return { method, bytes: message(`${method} ${target}`, headers, this.#chunks(text)) }
    }
    headers.push(`Content-Length: ${Buffer.byteLength(text)}`)
    return { method, bytes: message(`${method} ${target}`, headers, text) }
  }

  /** Returns bytes that began as one or two requests. */
  raw(): Buffer {
    const random = this.#random
    let bytes = this.#rawSeed()
    for (let count = 1 + random.below(4); count > 0; count--) {
      const at = random.below(bytes.length + 1)
      const length = random.below(random.chance(0.5) ? 8 : 200)
      const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
      switch (random.below(7)) {
        case 0:
          bytes = before
          break
        case 1:
          bytes = Buffer.concat([before, after.subarray(length)])
          break
        case 2:
          bytes = Buffer.concat([before, after.subarray(0, length), after])
          break
        case 3:
          bytes = Buffer.concat([before, this.#bytes(length), after])
          break
        case 4:
          bytes = Buffer.concat([
            before,
            Buffer.from(random.pick(['\r', '\n', '\r\n', '\0', ' ', ':', '%', '\r\n\r\n'])),
            after,
          ])
          break
        case 5:
          bytes = Buffer.concat([before, this.#rawSeed().subarray(random.below(60))])
          break
        default:
          if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
      }
    }
    return Buffer.from(bytes)
  }

  #rawSeed(): Buffer {
    for (;;) {
      const { method, bytes } = this.framed()
      // The end of a response to HEAD is unknown if the method is unknown.
      if (method !== 'HEAD')
        return this.#random.chance(0.03)
          ? Buffer.from('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
          : bytes
    }
  }

  #bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#random.below(256)))
  }

  #route(): [method: string, path: string, body: string] {
    const random = this.#random
    const id = random.pick(IDS)
    switch (random.below(24)) {
      case 0:
        return random.chance(0.3)
          ? ['GET', '/api/csrf', '']
          : ['GET', `/api/summary?${this.#query(['fields', 'filter'])}`, '']
      case 1:
        return random
          .pick([
            ['GET', '/api/contract', ''],
            ['GET', '/api/derivations', ''],
            ['GET', `/api/permissions?${this.#query(['actor'])}`, ''],
            ['GET', `/api/cells?ids=${id}&${this.#query(['targets'])}`, ''],
          ] as const)
          .slice() as [string, string, string]
      case 2:
      case 3:
        return [
          'GET',
          `/api/records?${this.#query(['fields', 'limit', 'cursor', 'as_of', 'sort', 'position', 'changed'])}`,
          '',
        ]
      case 4:
        return ['GET', `/api/records?filter=${encodeURIComponent(random.pick(FILTERS))}`, '']
      case 5:
      case 6:
        return ['GET', `/api/records/${id}?${this.#query(['fields', 'as_of'])}`, '']
      case 7:
      case 8:
      case 9:
      case 10:
        return ['POST', '/api/records', this.#upsert()]
      case 11:
        return ['DELETE', `/api/records?ids=${id},${encode(random.pick(TEXTS))}`, '']
      case 12:
        return [
          'POST',
          '/api/query',
          this.#object({ sql: JSON.stringify(random.pick(SQLS)), params: `[${this.#value()}]` }),
        ]
      case 13:
        return ['GET', `/api/status?${this.#query(['targets'])}`, '']
      case 14:
        return ['GET', `/api/status/rate/${id}`, '']
      case 15:
        return random.chance(0.2)
          ? ['POST', '/api/materialize', this.#materialize()]
          : ['POST', '/api/materialize?x', '{}']
      case 16:
        return ['GET', `/api/runs?${this.#query(['limit', 'cursor'])}`, '']
      case 17:
        return ['GET', `/api/runs/${random.below(30)}`, '']
      case 18:
        return ['GET', `/api/runs/${random.below(30)}/failures?${this.#query(['limit', 'cursor'])}`, '']
      case 19:
        return ['POST', `/api/runs/${random.below(30)}/cancel`, this.#object({ actor: '"agent:x"' })]
      case 20:
        return [
          'GET',
          `/api/provenance?record_id=${id}&field=${random.pick(FIELDS)}&history=${random.pick(['true', 'false', 'x'])}`,
          '',
        ]
      case 21:
        return [
          'POST',
          '/api/revert',
          this.#object({ record_id: '"a"', field: '"title"', seq: String(random.below(200)) }),
        ]
      case 22:
        // Never GET, which would not end.
        return ['POST', random.pick(['/events', '/api/runs/1/events']), '']
      default:
        return [
          'GET',
          random.pick(['/', '/api', '/api/', '/nowhere', '/api/records/', '//', '/api/runs//events']),
          '',
        ]
    }
  }

  #target(path: string): string {
    const random = this.#random
    if (random.chance(0.7)) return path
    const at = random.below(path.length) + 1
    const [before, after] = [path.slice(0, at), path.slice(at)]
    switch (random.below(8)) {
      case 0:
        return before + encode(random.pick(TEXTS)) + after
      case 1:
        return (
          before +
          random.pick([
            '%',
            '%zz',
            '%00',
            '%2f',
            '%2e%2e/',
            '//',
            '/./',
            ';x',
            '\\',
            '%c0%af',
            '+',
            '&',
            '=',
            '#',
            '?',
          ]) +
          after
        )
      case 2:
        return before
      case 3:
        return `http://localhost${path}`
      case 4:
        return `${path}${path.includes('?') ? '&' : '?'}${random.pick(['x=1', 'limit=1&limit=2', '__proto__=1', '&&&', '=', 'fields=a%ff'])}`
      case 5:
        return random.chance(0.05) ? `${path}?${'y'.repeat(66_000)}` : `${path}${path}`
      case 6:
        return path.toUpperCase()
      default:
        return `/${encode(random.pick(TEXTS))}${path}`
    }
  }

  #query(names: readonly string[]): string {
    const random = this.#random
    return names
      .filter(() => random.chance(0.5))
      .map((name) => `${name}=${encode(random.chance(0.5) ? this.#fitting(name) : random.pick(TEXTS))}`)
      .join('&')
  }

  #fitting(name: string): string {
    const random = this.#random
    if (name === 'fields') return random.pick(FIELDS)
    if (name === 'targets') return 'rate'
    if (name === 'sort') return random.pick(['', '-']) + random.pick(FIELDS)
    if (name === 'filter') return random.pick(FILTERS)
    if (name === 'actor') return 'agent:x'
    if (name === 'changed') return 'true'
    return String(1 + random.below(12_000))
  }

  #headers(): string[] {
    const random = this.#random
    const headers = random.chance(0.9) ? ['Cookie: svc_csrf=token', 'X-CSRF-Token: token'] : []
    if (random.chance(0.5)) headers.push('X-Svc-Actor: user:fuzz')
    for (let count = random.chance(0.3) ? 1 + random.below(3) : 0; count > 0; count--) {
      headers.push(
        `${random.pick(HEADERS)}: ${random.chance(0.7) ? random.pick(HEADER_VALUES) : headerText(random.pick(TEXTS))}`,
      )
    }
    if (random.chance(0.003)) headers.push(...Array.from({ length: 900 }, (_, index) => `X-${index}: 1`))
    if (random.chance(0.003)) headers.push(`Cookie: ${'a=b; '.repeat(20_000)}`)
    return headers
  }

  #value(): string {
    const random = this.#random
    switch (random.below(6)) {
      case 0:
        return JSON.stringify(random.pick(TEXTS))
      case 1:
        return String(random.below(2 ** 31) - 2 ** 30)
      case 2: {
        const depth = random.pick([3, 90, 101, 500, 600])
        return random.chance(0.5)
          ? '['.repeat(depth) + ']'.repeat(depth)
          : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
      }
      default:
        return random.pick(VALUES)
    }
  }

  #upsert(): string {
    const random = this.#random
    const record = (): string => {
      const members: Record<string, string> = {
        id: JSON.stringify(
          random.chance(0.9) ? random.pick(['a', 'b', 'k', `n${random.below(300)}`]) : random.pick(TEXTS),
        ),
      }
      const fitting: Record<string, string> = {
        title: '"Pear"',
        price: '2.5',
        currency: '"EUR"',
        owner_note: 'null',
        tags: '[1,"x"]',
        notes: '{"a":[]}',
      }
      for (const [field, value] of Object.entries(fitting)) if (random.chance(0.6)) members[field] = value
      return this.#object(members)
    }
    const records = Array.from({ length: random.chance(0.9) ? 1 : random.below(40) }, record)
    return this.#object({ records: `[${records.join(',')}]`, actor: '"user:fuzz"' })
  }

  #materialize(): string {
    return this.#object({
      targets: '["rate"]',
      record_ids: '["a","b"]',
      force: 'false',
      max_calls: '3',
      dry_run: this.#random.pick(['true', 'false']),
    })
  }

  /** Returns an object of these members, one of which may be wrong. */
  #object(members: Readonly<Record<string, string>>): string {
    const random = this.#random
    const entries = Object.entries(members)
    if (random.chance(0.4)) {
      const at = random.below(entries.length)
      const name = entries[at]?.[0] ?? ''
      switch (random.below(5)) {
        case 0:
          entries.splice(at, 1)
          break
        case 1:
          entries.push([name, this.#value()])
          break
        case 2:
          entries.push([random.pick(TEXTS), this.#value()])
          break
        default:
          entries[at] = [name, this.#value()]
      }
    }
    return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
  }

  #body(text: string): string {
    const random = this.#random
    if (random.chance(0.8)) return text
    switch (random.below(6)) {
      case 0:
        return text.slice(0, random.below(text.length + 1))
      case 1:
        return this.#value()
      case 2:
        return text + text
      case 3:
        return text.replaceAll(/[,:]/g, (mark) =>
          random.chance(0.2) ? random.pick([';', '', ',,', ' ']) : mark,
        )
      case 4:
        return random.chance(0.02) ? ' '.repeat(1_100_000) : `\ufeff${text}`
      default:
        return text.slice(random.below(text.length + 1)) + this.#upsert()
    }
  }

  #chunks(text: string): string {
    const bytes = Buffer.from(text)
    const cut = this.#random.below(bytes.length) || 1
    const chunk = (part: Buffer): string =>
      part.length === 0 ? '' : `${part.length.toString(16)}\r\n${part.toString('latin1')}\r\n`
    return Buffer.from(
      `${chunk(bytes.subarray(0, cut))}${chunk(bytes.subarray(cut))}0\r\n\r\n`,
      'latin1',
    ).toString('latin1')
  }
}

function message(start: string, headers: readonly string[], body: string): Buffer {
  const encoding = headers.includes('Transfer-Encoding: chunked') ? 'latin1' : 'utf8'
  const head = Buffer.from([`${start} HTTP/1.1`, ...headers, '', ''].join('\r\n'), 'latin1')
  return Buffer.concat([head, Buffer.from(body, encoding)])
}

/** Percent-encodes a text, lone surrogates included. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** Keeps the characters that the parser allows in a header's value. */
function headerText(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 3000)
}
