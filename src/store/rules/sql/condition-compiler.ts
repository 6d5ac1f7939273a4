import {
  foldCase,
  isCaseless,
  type CellCondition,
  type Condition,
  type ConditionField,
  type FieldCondition,
  searchedText,
  type Operand,
  type SearchCondition,
} from '../../condition.ts'

/** Compiles conditions to expressions that need no brackets where AND joins them; an engine adds what its dialect needs. */
export abstract class ConditionCompiler {
  compile(condition: Condition): string {
    switch (condition.kind) {
      case 'and':
        return condition.conditions.map((each) => this.compile(each)).join(' AND ')
      case 'or':
        return `(${condition.conditions.map((each) => this.compile(each)).join(' OR ')})`
      case 'not':
        return `(${this.compile(condition.condition)}) IS NOT TRUE`
      case 'field':
        return this.#ofField(condition)
      case 'state':
      case 'review':
      case 'run':
      case 'writer':
      case 'failure':
        return this.ofCells(condition)
      case 'search':
        return this.#inAny(condition)
    }
  }

  /** The operator that compares values of which both may be null. */
  protected abstract readonly isNot: string
  /** Returns the column of a field. */
  protected abstract column(field: ConditionField): string
  /** Returns the SQL by which a field is compared: timestamps by their time to the millisecond. */
  protected abstract comparable(field: ConditionField, sql: string): string
  /** Puts a value into the statement, and returns its placeholder. */
  protected abstract value(field: ConditionField, value: Exclude<Operand, null>): string
  /** Returns SQL for the position at which a text begins in another, ignoring case; 0 for none. */
  protected abstract place(sql: string, wanted: string): string
  /** Returns SQL for the text of a value in which a text is searched; null for one that cannot contain it. */
  protected abstract searched(field: ConditionField, wanted: string): string
  /** Returns SQL for texts as one, in which no text is found that is in none of them. */
  protected abstract joined(texts: readonly string[]): string
  /** Returns the condition that an array or object contains a text in its keys, texts or numbers. */
  protected abstract nestedContains(field: ConditionField, wanted: string): string
  /** Returns the condition that a record has a cell that meets a condition. */
  protected abstract ofCells(condition: CellCondition): string
  protected abstract hasAny(field: ConditionField, items: readonly Operand[]): string
  protected abstract hasAll(field: ConditionField, items: readonly Operand[]): string

  #ofField({ field, operator, operands }: FieldCondition): string {
    const column = this.column(field)
    const compared = this.comparable(field, column)
    const operand = (index = 0): string => this.#operand(field, operands[index] ?? null)
    const contains = (): string => this.#contains(field, String(operands[0]))
    switch (operator) {
      case 'equals':
        return `${compared} = ${operand()}`
      case 'notEquals':
        return `${compared} ${this.isNot} ${operand()}`
      case 'lessThan':
        return `${compared} < ${operand()}`
      case 'atMost':
        return `${compared} <= ${operand()}`
      case 'greaterThan':
        return `${compared} > ${operand()}`
      case 'atLeast':
        return `${compared} >= ${operand()}`
      case 'between':
        return `${compared} BETWEEN ${operand()} AND ${operand(1)}`
      case 'contains':
        return contains()
      case 'notContains':
        return `(${contains()}) IS NOT TRUE`
      case 'startsWith':
        return `${this.place(column, String(operands[0]))} = 1`
      case 'anyOf':
        return this.#anyOf(field, operands)
      case 'noneOf':
        return `(${this.#anyOf(field, operands)}) IS NOT TRUE`
      case 'hasAny':
        return this.hasAny(field, operands)
      case 'hasAll':
        return this.hasAll(field, operands)
      case 'hasNone':
        return `(${this.hasAny(field, operands)}) IS NOT TRUE`
      case 'empty':
        return `${column} IS NULL`
      case 'notEmpty':
        return `${column} IS NOT NULL`
    }
  }

  #inAny({ fields, text }: SearchCondition): string {
    const byText = Map.groupBy(fields, (field) => {
      const wanted = searchedText(field.type, text)
      return wanted === null ? null : `${isNested(field) ? 'nested' : 'plain'} ${wanted}`
    })
    byText.delete(null)
    const conditions = [...byText.values()].flatMap((some) =>
      inParts(some).map((part) => this.#inFields(part, searchedText(part[0].type, text) ?? '')),
    )
    return conditions.length === 0 ? '1 = 0' : `(${conditions.join(' OR ')})`
  }

  /**
   * Searches fields of one kind. Their texts are joined where case is folded, since to fold each takes twice as long; else joining them
   * takes longer. The items of arrays and objects are searched where their JSON has the text.
   */
  #inFields(fields: Part, wanted: string): string {
    const isFound = (text: string): string => {
      const texts = fields.map((field) => this.searched(field, text))
      const places = isCaseless(text) ? texts : [this.joined(texts)]
      return `(${places.map((sql) => `${this.place(sql, text)} > 0`).join(' OR ')})`
    }
    if (!isNested(fields[0])) return isFound(wanted)
    // Operands are put in the order of the text.
    const isInJson = isFound(JSON.stringify(wanted).slice(1, -1))
    const items = fields.map((field) => this.nestedContains(field, wanted)).join(' OR ')
    return `CASE WHEN ${isInJson} THEN ${items} END`
  }

  #operand(field: ConditionField, value: Operand): string {
    return value === null ? 'NULL' : this.comparable(field, this.value(field, value))
  }

  #anyOf(field: ConditionField, operands: readonly Operand[]): string {
    const column = this.column(field)
    const isEmpty = `${column} IS NULL`
    const values = operands.filter((value) => value !== null)
    if (values.length === 0) return isEmpty
    const listed = `${this.comparable(field, column)} IN (${values.map((value) => this.#operand(field, value)).join(', ')})`
    return values.length === operands.length ? listed : `(${listed} OR ${isEmpty})`
  }

  #contains(field: ConditionField, wanted: string): string {
    if (isNested(field)) return this.nestedContains(field, wanted)
    return `${this.place(this.column(field), wanted)} > 0`
  }
}

/** Fails for a condition on cells, which no filter over the fields can express. */
export function noSql(): never {
  throw new Error('a condition on cells has no text in SQL')
}

type Part = readonly [ConditionField, ...ConditionField[]]

/** The most fields that are joined: PostgreSQL limits the arguments of a function. */
const JOINED_FIELDS = 90

function inParts(fields: readonly ConditionField[]): readonly Part[] {
  const [first, ...others] = fields.slice(0, JOINED_FIELDS)
  if (first === undefined) return []
  return [[first, ...others], ...inParts(fields.slice(JOINED_FIELDS))]
}

function isNested({ type }: ConditionField): boolean {
  return type === 'array' || type === 'object'
}

/**
 * Returns SQL for the position at which a text begins in another, ignoring case; 0 for none. `position` is the function of
 * the dialect; the other text has a collation in which only ASCII letters have another case.
 */
export function foldedPosition(
  position: 'instr' | 'strpos',
  { sql, wanted }: { readonly sql: string; readonly wanted: string },
  put: (value: string) => string,
): string {
  if (isCaseless(wanted)) return `${position}(${sql}, ${put(wanted)})`
  const { text, replaced } = foldCase(wanted)
  const folded = replaced.reduce(
    (inner, { capital, small }) => `replace(${inner}, ${put(capital)}, ${put(small)})`,
    `lower(${sql})`,
  )
  return `${position}(${folded}, ${put(text)})`
}
