; Inno Setup: the installer of the Windows bundle, for one user and without an administrator's rights.
; Run “python packaging/package.py” first, then “iscc /DVersion=0.1.0 packaging\windows\lethe.iss”.
; Written beside the Linux recipe and never run: nobody had a Windows machine yet.

[Setup]
AppId={{6C5C9A0E-7B1D-4B0A-9E55-1E7A2F3C4D58}
AppName=Lethe
AppVersion={#Version}
AppPublisher=The Lethe authors
DefaultDirName={autopf}\Lethe
DefaultGroupName=Lethe
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
LicenseFile=..\..\LICENSE
SetupIconFile=..\..\build\package\icons\lethe.ico
UninstallDisplayIcon={app}\lethe.exe
OutputDir=..\..\dist
OutputBaseFilename=lethe-{#Version}-windows-x86_64
Compression=lzma2/fast
ChangesAssociations=yes

[Tasks]
Name: desktopicon; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[Files]
Source: "..\..\build\package\dist\lethe\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{autoprograms}\Lethe"; Filename: "{app}\lethe.exe"
Name: "{autodesktop}\Lethe"; Filename: "{app}\lethe.exe"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Classes\.lethe"; ValueType: string; ValueData: "Lethe.persona"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Lethe.persona"; ValueType: string; ValueData: "Lethe persona"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Lethe.persona\DefaultIcon"; ValueType: string; ValueData: "{app}\lethe.exe,0"
Root: HKA; Subkey: "Software\Classes\Lethe.persona\shell\open\command"; ValueType: string; ValueData: """{app}\lethe.exe"" ""%1"""
; Offered for cards of other programs, which keep the program that opens them now.
Root: HKA; Subkey: "Software\Classes\.charx\OpenWithProgids"; ValueType: string; ValueName: "Lethe.persona"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.png\OpenWithProgids"; ValueType: string; ValueName: "Lethe.persona"; ValueData: ""; Flags: uninsdeletevalue

[Run]
Filename: "{app}\lethe.exe"; Description: "{cm:LaunchProgram,Lethe}"; Flags: nowait postinstall skipifsilent

[Code]
procedure CurUninstallStepChanged(CurUninstallStep: TUninstallStep);
begin
  if CurUninstallStep = usPostUninstall then
    SuppressibleMsgBox('Lethe was removed. Your conversations and memories are kept, in ' +
      ExpandConstant('{localappdata}\Lethe') + '.', mbInformation, MB_OK, IDOK);
end;
