import { Stored, useStored } from './stored.ts'

export const THEMES = ['system', 'light', 'dark'] as const

export type Theme = (typeof THEMES)[number]

const stored = new Stored<Theme>('theme', (value) => THEMES.find((theme) => theme === value) ?? 'system')

/** Applies the chosen theme to the page, now and on changes. */
export function followTheme(): void {
  const apply = (): void => {
    if (stored.value === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = stored.value
  }
  stored.subscribe(apply)
  apply()
}

export function useTheme(): readonly [theme: Theme, set: (theme: Theme) => void] {
  return useStored(stored)
}
