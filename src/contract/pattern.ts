import { RE2JS } from 're2js'

/**
 * Compiles a `pattern` of the contract. As in the standard it is ECMA-262 and matches anywhere in the text; it runs
 * in linear time, since neither pattern nor text is to be trusted. Throws the engine's syntax error, also for what
 * no such engine has (look-around, back-references).
 */
export function compilePattern(pattern: string): (text: string) => boolean {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
  return (text) => compiled.test(text)
}
