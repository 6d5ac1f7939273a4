import { Moon, Search, Sun, SunMoon } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useRoute, useSearch } from 'wouter'
import type { SheetContract } from '../api/contract.ts'
import { WaitingBadge } from '../proposals/waiting-badge.tsx'
import { RunStatus } from '../runs/run-status.tsx'
import { THEMES, useTheme, type Theme } from '../state/theme.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ActorPicker } from './actor-picker.tsx'
import { openCommandMenu } from '../ui/command-menu.tsx'
import './header.css'
import { PAGES } from '../ui/pages.ts'

/** The bar with the sheet's name, the pages, the current run and the actor. */
export function Header({ contract }: { readonly contract: SheetContract | null }) {
  const records = useRecordsPath()
  return (
    <header className="header">
      <Link href="/" className="header-name" title={contract?.description ?? undefined}>
        <img src="/icon.svg" alt="" width={22} height={22} />
        <strong>{contract?.name ?? 'Colophon'}</strong>
      </Link>
      <nav aria-label="Pages">
        {PAGES.map(({ path, name }) => (
          <PageLink key={path} path={path} href={path === '/' ? records : path} name={name} />
        ))}
      </nav>
      <div className="header-end">
        {contract !== null && <RunStatus contract={contract} />}
        <Button look="quiet" icon={<Search size={15} />} onClick={openCommandMenu} className="header-search">
          <kbd>Ctrl K</kbd>
          <span className="visually-hidden">Commands</span>
        </Button>
        <ThemeButton />
        <ActorPicker />
      </div>
    </header>
  )
}

/** Returns the URL of the grid as it was seen last: its filter, sort order and selected cell. */
function useRecordsPath(): string {
  const [path] = useLocation()
  const search = useSearch()
  const [last, setLast] = useState('')
  if (path === '/' && search !== last) setLast(search)
  return last === '' ? '/' : `/?${last}`
}

interface PageLinkProps {
  readonly path: string
  readonly href: string
  readonly name: string
}

function PageLink({ path, href, name }: PageLinkProps) {
  const [isHere] = useRoute(path === '/runs' || path === '/proposals' ? `${path}/:id?` : path)
  return (
    <Link href={href} aria-current={isHere ? 'page' : undefined}>
      {name}
      {path === '/proposals' && <WaitingBadge />}
    </Link>
  )
}

const ICONS: Readonly<Record<Theme, typeof Sun>> = { system: SunMoon, light: Sun, dark: Moon }

function ThemeButton() {
  const [theme, setTheme] = useTheme()
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system'
  const Icon = ICONS[theme]
  return (
    <IconButton label={`Theme: ${theme}. Change to ${next}`} onClick={() => setTheme(next)}>
      <Icon size={16} />
    </IconButton>
  )
}
