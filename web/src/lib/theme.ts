import { useEffect } from "react";
import { usePreference } from "./storage";

export type Theme = "system" | "light" | "dark";

/** Apply the chosen theme to the page, and follow the system's while it is chosen. */
export function useTheme() {
  const [theme, chooseTheme] = usePreference<Theme>("theme", "system");
  useEffect(() => {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
      const isDark = theme === "dark" || (theme === "system" && system.matches);
      document.documentElement.classList.toggle("dark", isDark);
      document.documentElement.classList.toggle("light", !isDark);
    };
    apply();
    system.addEventListener("change", apply);
    return () => system.removeEventListener("change", apply);
  }, [theme]);
  return [theme, chooseTheme] as const;
}
