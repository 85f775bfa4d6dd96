// Runs before the first paint, so that a dark page never flashes white.
(() => {
  let chosen = "system";
  try {
    chosen = JSON.parse(localStorage.getItem("recollect.theme") ?? '"system"');
  } catch {
    // Without storage the system's theme is as good as any.
  }
  const isDark =
    chosen === "dark" ||
    (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", isDark);
  document.documentElement.classList.toggle("light", !isDark);
})();
