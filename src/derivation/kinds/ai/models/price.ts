/** The prices of a model, in dollars for a million tokens. */
export interface TokenPrices {
  readonly input: number
  readonly output: number
  /** The price of input tokens that the provider read from its cache. */
  readonly cachedInput: number
  /** The price of input tokens that the provider wrote to its cache; null if writes are not requested. */
  readonly cacheWrite: number | null
}

/** The tokens that a response was billed for. */
export interface Usage {
  /** All input tokens, with those below. */
  readonly input: number
  /** Input tokens read from the provider's cache. */
  readonly cached: number
  /** Input tokens written to the provider's cache. */
  readonly written: number
  readonly output: number
}

/** Tokens beside the texts of a request: roles, separators, and what providers add for structured output. */
const OVERHEAD_TOKENS = 1000

/** Trillionths of a dollar in a billionth, and in a dollar for a million tokens. */
const PER_BILLIONTH = 1000
const PER_PRICE = 1_000_000

/**
 * Returns the dollars for tokens, rounded up to a billionth: exact for prices of up to three decimals. Null if it cannot be known, since
 * the provider wrote to a cache whose price is unknown.
 */
export function costOf({ input, cached, written, output }: Usage, price: TokenPrices): number | null {
  if (written > 0 && price.cacheWrite === null) return null
  const fresh = Math.max(0, input - cached - written)
  return dollars([
    [fresh, price.input],
    [cached, price.cachedInput],
    [written, price.cacheWrite ?? 0],
    [output, price.output],
  ])
}

/**
 * Returns the most dollars that a request can cost: tokenizers of these APIs make at most one token of each byte, and the output is
 * bounded by the request.
 */
export function mostOf(bytes: number, maxOutputTokens: number, price: TokenPrices): number {
  const dearest = Math.max(price.input, price.cachedInput, price.cacheWrite ?? 0)
  return dollars([
    [bytes + OVERHEAD_TOKENS, dearest],
    [maxOutputTokens, price.output],
  ])
}

/** Returns the usual number of tokens for bytes of text; texts of other languages than English have more. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / 4)
}

/** Returns a sum of dollars, to a billionth. */
export function sumOf(amounts: readonly number[]): number {
  return Math.round(amounts.reduce((sum, amount) => sum + amount, 0) * 1e9) / 1e9
}

function dollars(parts: readonly (readonly [tokens: number, price: number])[]): number {
  const trillionths = parts.reduce((sum, [tokens, price]) => sum + tokens * Math.round(price * PER_PRICE), 0)
  return Math.ceil(trillionths / PER_BILLIONTH) / 1e9
}
