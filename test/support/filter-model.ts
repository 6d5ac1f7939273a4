/**
 * Filters as trees, evaluated here by the rules of the SQL standard and SQLite's manual, without SQLite: integers are bigint, other numbers
 * number, NULL is null, and truth values 1n, 0n or null.
 */
export type Value = bigint | number | string | null

/** The fields of a record as its columns contain them. */
export type Row = Readonly<Record<string, Value>>

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>='

/** An expression. Operands of a comparison are of one kind: numbers, or texts. */
export type Expression =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'literal'; readonly value: Value }
  | { readonly is: 'compare'; readonly by: Comparison | 'IS' | 'IS NOT'; readonly left: Expression; readonly right: Expression }
  | { readonly is: 'arithmetic'; readonly by: '+' | '-' | '*' | '/'; readonly left: Expression; readonly right: Expression }
  | { readonly is: 'logic'; readonly by: 'AND' | 'OR'; readonly left: Expression; readonly right: Expression }
  | { readonly is: 'not' | 'minus' | 'abs' | 'length'; readonly of: Expression }
  | { readonly is: 'null'; readonly of: Expression; readonly negated: boolean }
  | { readonly is: 'in'; readonly of: Expression; readonly list: readonly Expression[]; readonly negated: boolean }
  | { readonly is: 'between'; readonly of: Expression; readonly from: Expression; readonly to: Expression; readonly negated: boolean }
  | { readonly is: 'like'; readonly of: Expression; readonly pattern: string; readonly negated: boolean }
  | { readonly is: 'coalesce'; readonly first: Expression; readonly second: Expression }
  | { readonly is: 'case'; readonly when: Expression; readonly value: Expression; readonly otherwise: Expression }
  | { readonly is: 'concat'; readonly left: Expression; readonly right: Expression } // prettier-ignore

/** Evaluates an expression for a record. */
export function evaluate(expression: Expression, row: Row): Value {
  const at = (each: Expression): Value => evaluate(each, row)
  switch (expression.is) {
    case 'field':
      return row[expression.name] ?? null
    case 'literal':
      return expression.value
    case 'compare':
      return compare(expression.by, at(expression.left), at(expression.right))
    case 'arithmetic':
      return arithmetic(expression.by, at(expression.left), at(expression.right))
    case 'logic':
      return logic(expression.by, at(expression.left), at(expression.right))
    case 'not':
      return not(truth(at(expression.of)))
    case 'minus':
      return arithmetic('-', 0n, at(expression.of))
    case 'abs': {
      const value = at(expression.of)
      return value !== null && Number(value) < 0 ? arithmetic('-', 0n, value) : value
    }
    case 'length': {
      const value = at(expression.of)
      return value === null ? null : BigInt([...String(value)].length)
    }
    case 'null':
      return truthOf((at(expression.of) === null) !== expression.negated)
    case 'in':
      return negatedIf(expression.negated, isIn(at(expression.of), expression.list.map(at)))
    case 'between': {
      const value = at(expression.of)
      const inside = logic(
        'AND',
        compare('>=', value, at(expression.from)),
        compare('<=', value, at(expression.to)),
      )
      return negatedIf(expression.negated, inside)
    }
    case 'like': {
      const value = at(expression.of)
      return value === null ? null : truthOf(isLike(String(value), expression.pattern) !== expression.negated)
    }
    case 'coalesce':
      return at(expression.first) ?? at(expression.second)
    case 'case':
      return truth(at(expression.when)) === 1n ? at(expression.value) : at(expression.otherwise)
    case 'concat': {
      const [left, right] = [at(expression.left), at(expression.right)]
      return left === null || right === null ? null : `${left}${right}`
    }
  }
}

/** Whether a record matches a filter: neither false nor unknown. */
export function letsThrough(filter: Expression, row: Row): boolean {
  return truth(evaluate(filter, row)) === 1n
}

function truthOf(holds: boolean): 1n | 0n {
  return holds ? 1n : 0n
}

/** A number is true unless it is 0; texts are not used as truth values. */
function truth(value: Value): 1n | 0n | null {
  return value === null ? null : truthOf(Number(value) !== 0)
}

function not(value: 1n | 0n | null): Value {
  return value === null ? null : truthOf(value === 0n)
}

function negatedIf(negated: boolean, value: Value): Value {
  return negated ? not(truth(value)) : value
}

function logic(by: 'AND' | 'OR', left: Value, right: Value): Value {
  const both = [truth(left), truth(right)]
  const decisive = by === 'AND' ? 0n : 1n
  if (both.includes(decisive)) return decisive
  return both.includes(null) ? null : 1n - decisive
}

function compare(by: Comparison | 'IS' | 'IS NOT', left: Value, right: Value): Value {
  if (by === 'IS' || by === 'IS NOT') {
    const same = left === null || right === null ? left === right : order(left, right) === 0
    return truthOf(same === (by === 'IS'))
  }
  if (left === null || right === null) return null
  const sign = order(left, right)
  const holds = {
    '=': sign === 0,
    '<>': sign !== 0,
    '<': sign < 0,
    '<=': sign <= 0,
    '>': sign > 0,
    '>=': sign >= 0,
  }
  return truthOf(holds[by])
}

/** Compares texts by their bytes in UTF-8, and numbers by value. */
function order(left: bigint | number | string, right: bigint | number | string): number {
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right))
  return left < right ? -1 : left > right ? 1 : 0
}

/** Integers stay integers, and division truncates; division by zero is null. */
function arithmetic(by: '+' | '-' | '*' | '/', left: Value, right: Value): Value {
  if (left === null || right === null) return null
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    if (by === '/') return right === 0n ? null : left / right
    return by === '+' ? left + right : by === '-' ? left - right : left * right
  }
  const [a, b] = [Number(left), Number(right)]
  if (by === '/') return b === 0 ? null : a / b
  return by === '+' ? a + b : by === '-' ? a - b : a * b
}

function isIn(value: Value, list: readonly Value[]): Value {
  if (list.length === 0) return 0n
  return list.map((each) => compare('=', value, each)).reduce((left, right) => logic('OR', left, right), 0n)
}

/** `%` matches any run of characters, `_` one; A to Z equal a to z, and no other letters do. */
function isLike(text: string, pattern: string): boolean {
  const small = (each: string): string => each.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  const wanted = [...small(pattern)]
  let reached = new Set([0])
  for (const character of small(text)) {
    reached = new Set(
      [...withoutText(reached, wanted)].flatMap((place) => {
        if (wanted[place] === '%') return [place]
        return wanted[place] === '_' || wanted[place] === character ? [place + 1] : []
      }),
    )
  }
  return withoutText(reached, wanted).has(wanted.length)
}

/** Returns the positions in a pattern that are reached from these without another character. */
function withoutText(places: ReadonlySet<number>, wanted: readonly string[]): Set<number> {
  const reached = new Set(places)
  for (const place of reached) if (wanted[place] === '%') reached.add(place + 1)
  return reached
}
