import { useMemo } from 'react'
import type { SheetContract, SheetField } from '../api/contract.ts'
import { defaultFormat, parseFormat, type ColumnFormat } from '../values/column-format.ts'
import { useOpenView, type SavedView } from './saved-view.ts'
import { Stored, useStored } from './stored.ts'

/** The user's column settings of a sheet. Fields without settings follow the contract. */
export interface ColumnSettings {
  /** Field names in order. */
  readonly order: readonly string[]
  readonly hidden: readonly string[]
  /** Columns that stay at the left when the grid scrolls. */
  readonly pinned: readonly string[]
  /** In CSS pixels. */
  readonly widths: Readonly<Record<string, number>>
  /** In CSS pixels: one of {@link ROW_HEIGHTS}. */
  readonly rowHeight: number
  /** By field name. */
  readonly formats: Readonly<Record<string, ColumnFormat>>
}

/** The heights of rows; the tallest shows two lines of a text. */
export const ROW_HEIGHTS = [
  { name: 'Compact', pixels: 28 },
  { name: 'Normal', pixels: 34 },
  { name: 'Tall', pixels: 56 },
] as const

/** The height of rows without a setting. */
export const NORMAL_HEIGHT = 34

const NONE: ColumnSettings = {
  order: [],
  hidden: [],
  pinned: [],
  widths: {},
  rowHeight: NORMAL_HEIGHT,
  formats: {},
}

const settingsByKey = new Map<string, Stored<ColumnSettings | null>>()

/**
 * Returns the settings of a sheet, by its name, and their setter: those that this browser stores, for all records and for each view,
 * else those of the open view.
 */
export function useColumnSettings(
  sheet: string,
): readonly [ColumnSettings, (change: Partial<ColumnSettings>) => void] {
  const { id, saved } = useOpenView()
  const [settings, set] = useStored(storedSettings(sheet, id))
  const base = useMemo(() => parseSettings(saved?.columns), [saved])
  return [settings ?? base, (change) => set({ ...(settings ?? base), ...change })]
}

/** Makes the columns of a view those of the sheet again. */
export function dropOwnSettings(sheet: string, viewId: string): void {
  storedSettings(sheet, viewId).set(null)
}

/** Whether settings are those of a view. */
export function areSettingsOf(saved: SavedView, settings: ColumnSettings): boolean {
  return JSON.stringify(parseSettings(saved.columns)) === JSON.stringify(parseSettings(settings))
}

function storedSettings(sheet: string, viewId: string | null): Stored<ColumnSettings | null> {
  const key = viewId === null ? `columns.${sheet}` : `columns.${sheet}.view.${viewId}`
  let stored = settingsByKey.get(key)
  if (stored === undefined) {
    stored = new Stored(key, (value) =>
      typeof value === 'object' && value !== null ? parseSettings(value) : null,
    )
    settingsByKey.set(key, stored)
  }
  return stored
}

function parseSettings(value: unknown): ColumnSettings {
  if (typeof value !== 'object' || value === null) return NONE
  const { order, hidden, pinned, widths, rowHeight, formats } = value as Record<string, unknown>
  return {
    order: namesOf(order),
    hidden: namesOf(hidden),
    pinned: namesOf(pinned),
    widths: Object.fromEntries(
      Object.entries(widths ?? {}).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
    ),
    rowHeight: ROW_HEIGHTS.find(({ pixels }) => pixels === rowHeight)?.pixels ?? NORMAL_HEIGHT,
    formats: Object.fromEntries(
      Object.entries(formats ?? {}).map(([name, format]) => [name, parseFormat(format)]),
    ),
  }
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

/** Returns the visible fields, pinned ones first; by default the primary key is pinned. */
export function shownFields(
  { fields }: SheetContract,
  settings: ColumnSettings,
): {
  readonly pinned: readonly SheetField[]
  readonly others: readonly SheetField[]
} {
  const place = new Map(settings.order.map((name, index) => [name, index]))
  const shown = fields
    .filter(({ name }) => !settings.hidden.includes(name))
    .map((field, index) => ({ field, place: place.get(field.name) ?? index }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ field }) => field)
  const isPinned = ({ name, primaryKey }: SheetField): boolean =>
    settings.pinned.length === 0 ? primaryKey : settings.pinned.includes(name)
  return { pinned: shown.filter(isPinned), others: shown.filter((field) => !isPinned(field)) }
}

const WIDTHS: Readonly<Record<SheetField['type'], number>> = {
  string: 180,
  integer: 110,
  number: 120,
  boolean: 110,
  date: 120,
  timestamp: 190,
  time: 110,
  array: 220,
  object: 220,
}

export const MIN_WIDTH = 60

export function widthOf(field: SheetField, { widths }: ColumnSettings): number {
  return Math.max(MIN_WIDTH, widths[field.name] ?? (field.primaryKey ? 130 : WIDTHS[field.type]))
}

export function formatOf(field: SheetField, { formats }: ColumnSettings): ColumnFormat {
  return { ...defaultFormat(field), ...formats[field.name] }
}
