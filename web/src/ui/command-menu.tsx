import { Command } from 'cmdk'
import { useEffect, useSyncExternalStore, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { SheetContract } from '../api/contract.ts'
import { THEMES, useTheme } from '../state/theme.ts'
import './command-menu.css'
import { PAGES } from './pages.ts'

/** A command of the command menu. */
export interface MenuCommand {
  /** A short imperative. */
  readonly name: string
  readonly group: string
  run(): void
}

/** The commands of the mounted components, by component. */
const offered = new Map<string, readonly MenuCommand[]>()
let all: readonly MenuCommand[] = []
let isOpen = false
const listeners = new Set<() => void>()

function changed(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function setOpen(open: boolean): void {
  isOpen = open
  changed()
}

export function openCommandMenu(): void {
  setOpen(true)
}

/** Offers commands while the component is mounted. */
export function useCommands(from: string, commands: readonly MenuCommand[]): void {
  useEffect(() => {
    offered.set(from, commands)
    all = [...offered.values()].flat()
    changed()
    return () => {
      offered.delete(from)
      all = [...offered.values()].flat()
      changed()
    }
  }, [from, commands])
}

/** The menu of pages and commands, opened by Ctrl+K. */
export function CommandMenu({ contract }: { readonly contract: SheetContract | null }) {
  const open = useSyncExternalStore(subscribe, () => isOpen)
  const commands = useSyncExternalStore(subscribe, () => all)
  const [, goTo] = useLocation()
  const [, setTheme] = useTheme()
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen(!isOpen)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const groups = Map.groupBy(commands, ({ group }) => group)
  return (
    <Command.Dialog
      open={open}
      onOpenChange={setOpen}
      label="Commands"
      className="command-menu"
      overlayClassName="dialog-overlay"
    >
      <Command.Input placeholder={`Search commands for ${contract?.name ?? 'the sheet'}`} />
      <Command.List>
        <Command.Empty>No matching command</Command.Empty>
        {[...groups].map(([group, items]) => (
          <Command.Group key={group} heading={group}>
            {items.map(({ name, run }) => (
              <Item key={name} onSelect={run}>
                {name}
              </Item>
            ))}
          </Command.Group>
        ))}
        <Command.Group heading="Go to">
          {PAGES.map(({ path, name }) => (
            <Item key={path} onSelect={() => goTo(path)}>
              {name}
            </Item>
          ))}
        </Command.Group>
        <Command.Group heading="Theme">
          {THEMES.map((theme) => (
            <Item key={theme} onSelect={() => setTheme(theme)}>
              Use the {theme} theme
            </Item>
          ))}
        </Command.Group>
      </Command.List>
    </Command.Dialog>
  )
}

function Item({ onSelect, children }: { readonly onSelect: () => void; readonly children: ReactNode }) {
  return (
    <Command.Item
      onSelect={() => {
        setOpen(false)
        onSelect()
      }}
    >
      {children}
    </Command.Item>
  )
}
