import { Braces, Brackets, Calendar, CalendarClock, Clock, Hash, Key, SquareCheck, Type } from 'lucide-react'
import type { SheetField } from '../api/contract.ts'

const ICONS: Readonly<Record<SheetField['type'], typeof Type>> = {
  string: Type,
  integer: Hash,
  number: Hash,
  boolean: SquareCheck,
  date: Calendar,
  timestamp: CalendarClock,
  time: Clock,
  array: Brackets,
  object: Braces,
}

/** An icon for the type of a field. */
export function TypeIcon({ field }: { readonly field: Pick<SheetField, 'type' | 'primaryKey'> }) {
  const Icon = field.primaryKey ? Key : ICONS[field.type]
  return <Icon className="type-icon" size={13} aria-hidden="true" />
}
